//! DELETE of a collection: of all that is selected in it, one by one.

use axum::response::Response;

use super::{
    Call,
    attempt::Halt,
    delete::{delete_in, options},
    list::{self, Page},
    write::add_warnings,
};
use crate::{
    request::{ListOptions, Preconditions},
    response::{Shape, list_pieces},
    status::Status,
};

/// Deletes what is selected, and answers with it as it was.
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
    } = query.read(&call.server.core).await?;
    call.complete(&mut metadata);
    let mut warnings = Vec::new();
    for object in &selected {
        let written = call.write(&options, |tx| {
            // Somebody else may have deleted it by now, or put another one there.
            match tx.get(object.key()).filter(|now| now.uid() == object.uid()) {
                Some(now) => delete_in(call, tx, &options, &now).map(drop),
                None => Ok::<_, Halt>(()),
            }
        });
        let ((), said) = written.await?;
        warnings.extend(said);
    }
    let selected = call.present_all(selected).await?;
    let delivery = call.delivery(&encoding);
    let mut response = delivery.pieces(list_pieces(encoding, &metadata, selected));
    add_warnings(&mut response, &warnings);
    Ok(response)
}
