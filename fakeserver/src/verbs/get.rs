//! GET of one object.

use axum::response::Response;
use http::StatusCode;

use super::{Call, list::reach, version::Version};
use crate::{
    edge::{request::ListOptions, response::Shape},
    value::{revision::Revision, status::Status},
};

/// Answers with the object, from a state that is not older than asked, nor newer than what `sees` says.
pub(super) async fn get(
    call: &Call<'_>,
    options: &ListOptions,
    sees: Option<Revision>,
) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Object)?;
    if call.query.bool("export") == Some(true) {
        return Err(Status::bad_request(
            "the export parameter, deprecated since v1.14, is no longer supported",
        ));
    }
    let version = Version::parse(&options.resource_version)
        .map_err(|error| Status::unclassified(error.to_string()))?;
    let backend = &call.api.backend;
    if let Version::At(revision) = version {
        reach(backend, revision, sees).await?;
    }
    let name = call.target.path.name.as_deref().unwrap_or_default();
    let key = call.target.key(name);
    let object = backend
        .storage
        .view(|view| {
            if sees.is_none() {
                return view.get(&key).cloned();
            }
            let (then, _) = view.snapshot_seen(key.resource(), sees);
            then.get(key.path()).cloned()
        })
        .ok_or_else(|| Status::not_found(call.target.named(name)))?;
    let object = call.present(&object).await?;
    let body = encoding.object(&object);
    Ok(call.delivery(&encoding).whole(StatusCode::OK, body))
}
