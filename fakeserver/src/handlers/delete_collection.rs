//! DELETE of a collection: of all that is selected in it, one by one.

use axum::response::Response;

use super::{
    Call,
    delete::{delete_in, options},
};
use crate::{
    request::{ListOptions, Preconditions},
    response::{ListMeta, Shape, list_pieces},
    status::Status,
};

/// Deletes what is selected, and answers with it as it was.
pub(super) fn delete_collection(call: &Call<'_>, body: &[u8]) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::List)?;
    let mut options = options(call, body)?;
    // They would be those of one object.
    options.preconditions = Preconditions::default();
    let list_options = ListOptions::parse(&call.query)?;
    list_options.validate()?;
    let selection = call.selection(&list_options)?;
    let resource = call.group_resource();
    let (metadata, deleted) = call.server.core.storage.transact(|tx| {
        let mut metadata = ListMeta {
            resource_version: tx.revision().to_string(),
            continue_token: None,
            remaining_item_count: None,
        };
        call.complete(&mut metadata);
        let mut selected = tx.list(&resource, call.path.namespace.as_deref());
        selected.retain(|object| selection.matches(object));
        for object in &selected {
            delete_in(call, tx, &options, object)?;
        }
        Ok::<_, Status>((metadata, selected))
    })?;
    let delivery = call.delivery(&encoding);
    Ok(delivery.pieces(list_pieces(encoding, &metadata, deleted)))
}
