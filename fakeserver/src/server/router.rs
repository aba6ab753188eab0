//! From a request to its handler.

use std::{any::Any, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    middleware,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::error;

use super::{Server, control, envelope};
use crate::{
    handlers,
    registry::Registry,
    request::{ApiPath, Query},
    status::Status,
};

/// The API as a service.
pub(super) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .fallback(handle)
        .with_state(Arc::clone(&server))
        .layer(CatchPanicLayer::custom(on_panic))
        // Outermost, so that an answer to a panic has the headers of every answer.
        .layer(middleware::from_fn_with_state(server, envelope::wrap))
}

async fn handle(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    if let Some(action) = path.strip_prefix("/_control/") {
        return control::handle(&server, &parts.method, action);
    }
    match ApiPath::parse(path) {
        ApiPath::Resource(path) if Registry::builtin().group(&path.group).is_none() => not_found(),
        ApiPath::Resource(path) => {
            let query = Query::parse(parts.uri.query());
            handlers::serve(&server, &parts.method, path, query, &parts.headers, body)
                .await
                .unwrap_or_else(IntoResponse::into_response)
        }
        _ => not_found(),
    }
}

/// What is answered to a path that nobody serves.
fn not_found() -> Response {
    (
        StatusCode::NOT_FOUND,
        [
            (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ],
        "404 page not found\n",
    )
        .into_response()
}

/// A panic is a defect of this server; its clients see what they would see of a panic in a real one.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
fn on_panic(panic: Box<dyn Any + Send>) -> http::Response<Body> {
    let reason = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    error!(error = reason, "request handler panicked");
    Status::internal(reason).into_response()
}
