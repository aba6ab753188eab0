//! DELETE of a collection: deletes each selected object.

use axum::response::Response;

use super::{
    Call,
    delete::{delete_existing, options},
    list::{self, Page},
    write::add_warnings,
};
use crate::{
    edge::{
        request::ListOptions,
        response::{Shape, list_pieces},
    },
    value::status::Status,
    write::{Attempt, Existing, Preconditions},
};

/// Deletes the selected objects, and answers with them as they were.
pub(super) async fn delete_collection(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::List)?;
    let mut options = options(call, body)?;
    // They would be those of one object.
    options.preconditions = Preconditions::default();
    let list_options = ListOptions::parse(&call.query)?;
    list_options.validate()?;
    // With a limit, only a page of it is deleted.
    let query = list::query(call, &list_options)?;
    let Page {
        mut metadata,
        items: selected,
    } = query.read(&call.api.backend).await?;
    call.complete(&mut metadata);
    let (target, author) = (&call.target, call.deleter());
    let mut warnings = Vec::new();
    for object in &selected {
        let work = |attempt: &mut Attempt<'_, '_>| {
            // Another writer may have deleted or replaced it by now.
            let stored = attempt.get(object.key());
            let Some(stored) = stored.filter(|stored| stored.uid() == object.uid()) else {
                return Ok(());
            };
            let shown = attempt.shown(target, &stored)?;
            let existing = Existing { stored, shown };
            delete_existing(target, author, attempt, &options, existing).map(drop)
        };
        let writer = &call.api.backend;
        let ((), said) = writer.write(target, &options, work).await?;
        warnings.extend(said);
    }
    let selected = call.present_all(selected).await?;
    let delivery = call.delivery(&encoding);
    let mut response = delivery.pieces(list_pieces(encoding, &metadata, selected));
    add_warnings(&mut response, &warnings);
    Ok(response)
}
