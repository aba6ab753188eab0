//! What a test may do behind the API, from any process: `/_control/*`.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{Method, StatusCode};

use super::beginning;
use crate::state::Server;

/// `POST /_control/{compact,expire,disconnect,reset}` and `GET /_control/stats`.
pub(super) fn handle(server: &Server, method: &Method, action: &str) -> Response {
    let core = &server.core;
    let expected = match action {
        "stats" => Method::GET,
        "compact" | "expire" | "disconnect" | "reset" => Method::POST,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    if *method != expected {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match action {
        "stats" => return Json(core.stats()).into_response(),
        "compact" => core.storage.compact(),
        "expire" => core.storage.expire(),
        "disconnect" => core.watchers.disconnect(),
        _ => beginning::reset(server),
    }
    StatusCode::NO_CONTENT.into_response()
}
