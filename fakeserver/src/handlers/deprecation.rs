//! What answers warn of when they are in a version that is on its way out.

use axum::response::Response;

use super::write::add_warning;
use crate::resource::ResourceType;

/// The answer to a request for objects of `resource`, with a warning if it is deprecated.
pub(super) fn warn_of(resource: &ResourceType, mut response: Response) -> Response {
    let custom = resource.custom.as_ref();
    let warning = match custom {
        Some(custom) => custom.deprecation_warning(),
        None => builtin(&resource.api_version(), &resource.kind),
    };
    if let Some(warning) = warning {
        add_warning(&mut response, warning);
    }
    response
}

fn builtin(api_version: &str, kind: &str) -> Option<&'static str> {
    match (api_version, kind) {
        ("v1", "ComponentStatus") => Some("v1 ComponentStatus is deprecated in v1.19+"),
        ("v1", "Endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        }
        _ => None,
    }
}
