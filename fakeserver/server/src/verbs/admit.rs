//! Objects that are created and not stored, such as reviews and requests for tokens.

use fakeserver_value::{resource::GroupVersionKind, status::Status};
use serde_json::Value;

use super::{Api, Request, author::author};
use crate::write::{self, Attempt, WriteOptions};

/// Puts an object that is not stored to admission, and returns what it has become, with all warnings.
pub(super) async fn admit(
    api: &Api,
    request: &Request<'_>,
    kind: &GroupVersionKind,
    options: &WriteOptions,
    object: Value,
) -> Result<(Value, Vec<String>), Status> {
    let (target, author) = (&request.target, author(request, options));
    let work =
        |attempt: &mut Attempt<'_, '_>| write::admit(attempt, target, author, kind, object.clone());
    api.backend.write(target, options, work).await
}
