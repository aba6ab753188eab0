//! Stored objects in the version of a request, which may need a conversion webhook.

use std::sync::Arc;

use fakeserver_value::status::Status;

use super::{Api, Request};

use crate::{store::StoredObject, write::Converter};

/// Converts a stored object to the version of the request.
pub(super) async fn present(
    api: &Api,
    request: &Request<'_>,
    stored: &Arc<StoredObject>,
) -> Result<Arc<StoredObject>, Status> {
    let presented = present_all(api, request, vec![Arc::clone(stored)]).await?;
    Ok(presented
        .into_iter()
        .next()
        .unwrap_or_else(|| Arc::clone(stored)))
}

/// Converts stored objects to the version of the request, by at most one call of a webhook.
pub(super) async fn present_all(
    api: &Api,
    request: &Request<'_>,
    stored: Vec<Arc<StoredObject>>,
) -> Result<Vec<Arc<StoredObject>>, Status> {
    let backend = &api.backend;
    match request.target.rules().as_custom() {
        Some(custom) => {
            let converter = Converter::new(&backend.webhooks, &backend.entropy);
            converter.present(custom, stored).await
        }
        None => Ok(stored),
    }
}
