//! GET of one object.

use axum::response::Response;
use fakeserver_value::{revision::Revision, status::Status};
use http::StatusCode;

use super::{
    Api, Request, answer,
    list::{catch_up, reach},
    present::present,
    version::Version,
};
use crate::edge::{request::ListOptions, response::Shape};

/// Answers with the object, from a state not older than requested and not newer than `sees`.
pub(super) async fn get(
    api: &Api,
    request: &Request<'_>,
    options: &ListOptions,
    sees: Option<Revision>,
) -> Result<Response, Status> {
    let encoding = answer::encoding(api, request, Shape::Object)?;
    if request.query.bool("export") == Some(true) {
        return Err(Status::bad_request(
            "the export parameter, deprecated since v1.14, is no longer supported",
        ));
    }
    let version = Version::parse(&options.resource_version)
        .map_err(|error| Status::unclassified(error.to_string()))?;
    let storage = &api.backend.storage;
    match version {
        Version::At(revision) => reach(storage, revision, sees).await?,
        Version::Latest => catch_up(storage).await?,
        Version::Any => {}
    }
    let name = request.target.path.name.as_deref().unwrap_or_default();
    let key = request.target.key(name);
    let object = storage
        .view(|view| {
            if sees.is_none() {
                return view.get(&key).cloned();
            }
            let (then, _) = view.snapshot_seen(key.resource(), sees);
            then.get(key.path()).cloned()
        })
        .ok_or_else(|| Status::not_found(request.target.named(name)))?;
    let object = present(api, request, &object).await?;
    let body = encoding.object(&object);
    Ok(answer::delivery(request, &encoding).whole(StatusCode::OK, body))
}
