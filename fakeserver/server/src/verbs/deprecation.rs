//! Warnings of answers in deprecated versions.

use axum::response::Response;
use fakeserver_kinds::ResourceType;
use fakeserver_value::status::Status;

use super::answer::add_warnings;

/// Adds a warning to the answer to a request for objects of `resource`, or to its error, if it is deprecated.
pub(super) fn warn_of(
    resource: &ResourceType,
    mut answer: Result<Response, Status>,
) -> Result<Response, Status> {
    if let Some(warning) = resource.rules.deprecation_warning(resource.kubernetes) {
        match &mut answer {
            Ok(response) => add_warnings(response, &[warning.to_owned()]),
            // A 406 comes before the handler, so it has no deprecation warning.
            Err(status) if status.is_unrouted() => {}
            Err(status) => status.warnings.push(warning.to_owned()),
        }
    }
    answer
}
