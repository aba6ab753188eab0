//! DELETE of a collection: deletes each selected object.

use axum::response::Response;
use fakeserver_value::status::Status;

use super::{
    Api, Request, Verb,
    answer::{self, add_warnings},
    author::deleter,
    delete::{check_preconditions, delete_existing, options},
    list::{self, Page},
    present::present_all,
};
use crate::{
    edge::response::{Shape, list_pieces},
    write::{Attempt, ExistingObject},
};

/// Deletes the selected objects, and answers with the states in which they were selected.
///
/// Preconditions hold for each of them. The first deletion that fails ends the request; those before it stay.
pub(super) async fn delete_collection(
    api: &Api,
    request: &Request<'_>,
    body: &[u8],
) -> Result<Response, Status> {
    let encoding = answer::encoding(api, request, Shape::List)?;
    let list_options = request.list_options(Verb::DeleteCollection)?;
    // With a limit, only a page of it is deleted.
    let query = list::query(request, &list_options)?;
    let options = options(request, body)?;
    let Page {
        mut metadata,
        items: selected,
    } = query.read(&api.backend.storage).await?;
    list::complete(request, &mut metadata);
    let (target, author) = (&request.target, deleter(request));
    let mut warnings = Vec::new();
    for object in &selected {
        let work = |attempt: &mut Attempt<'_, '_>| {
            // Another writer may have deleted or replaced it by now.
            let stored = attempt.get(object.key());
            let Some(stored) = stored.filter(|stored| stored.uid() == object.uid()) else {
                return Ok(());
            };
            let object = attempt.api_object(target, &stored)?;
            let existing = ExistingObject { stored, object };
            check_preconditions(target, &options, &existing.stored)?;
            delete_existing(target, author, attempt, &options, existing).map(drop)
        };
        let ((), admission_warnings) = api.backend.write(target, &options, work).await?;
        warnings.extend(admission_warnings);
    }
    let selected = present_all(api, request, selected).await?;
    let delivery = answer::delivery(request, &encoding);
    let mut response = delivery.pieces(list_pieces(encoding, &metadata, selected));
    add_warnings(&mut response, &warnings);
    Ok(response)
}
