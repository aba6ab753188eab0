//! Warnings of answers in deprecated versions.

use axum::response::Response;

use super::answer::add_warning;
use crate::kinds::ResourceType;

/// The answer to a request for objects of `resource`, with a warning if it is deprecated.
pub(super) fn warn_of(resource: &ResourceType, mut response: Response) -> Response {
    if let Some(warning) = resource.rules.deprecation_warning() {
        add_warning(&mut response, warning);
    }
    response
}
