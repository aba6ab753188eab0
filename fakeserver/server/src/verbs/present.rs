//! Stored objects in the version of a request, which may need a conversion webhook.

use std::sync::Arc;

use fakeserver_value::status::Status;

use super::{Api, Request};

use crate::{store::StoredObject, write::Converter};

/// Returns what is stored as the type shows it.
pub(super) async fn present(
    api: &Api,
    request: &Request<'_>,
    stored: &Arc<StoredObject>,
) -> Result<Arc<StoredObject>, Status> {
    let shown = present_all(api, request, vec![Arc::clone(stored)]).await?;
    Ok(shown
        .into_iter()
        .next()
        .unwrap_or_else(|| Arc::clone(stored)))
}

/// Returns what is stored as the type shows it, by at most one question to a webhook.
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
