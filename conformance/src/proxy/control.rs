//! Control of the proxy for tests, from any process: `/_control/faults`.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use fakeserver::{faults::FaultSpec, serve_faults};
use http::{Method, StatusCode};

use super::{Proxy, support};

/// As the fake server has it; what a proxy cannot make is refused with 422.
pub(super) async fn handle(proxy: &Proxy, method: &Method, action: &str, body: Body) -> Response {
    let (resource, below) = match action.split_once('/') {
        Some((resource, below)) => (resource, Some(below)),
        None => (action, None),
    };
    if resource != "faults" {
        return StatusCode::NOT_FOUND.into_response();
    }
    let refusal = |spec: &FaultSpec| support::check(spec).err().map(|error| error.to_string());
    // The resources are those of another server.
    serve_faults(proxy.faults(), refusal, |_| None, method, below, body).await
}
