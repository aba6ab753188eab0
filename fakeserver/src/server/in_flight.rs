//! Requests are refused while too many others are served.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Method, StatusCode, header};

use super::held::hold;
use crate::{
    handlers::Verb,
    request::{ApiPath, Query},
    state::Server,
};

/// Answers `request`, if there are not too many already. What lasts long does not count.
pub(super) async fn admit(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    if is_exempt(&request) {
        return next.run(request).await;
    }
    let is_reading = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    let Some(slot) = server.in_flight.enter(is_reading) else {
        return too_many();
    };
    let response = next.run(request).await;
    if slot.is_counted() {
        hold(response, slot)
    } else {
        response
    }
}

fn is_exempt(request: &Request) -> bool {
    let uri = request.uri();
    if uri.path().starts_with("/_control/") {
        return true;
    }
    match ApiPath::parse(uri.path()) {
        ApiPath::Resource(path) => {
            let query = Query::parse(uri.query());
            Verb::of(request.method(), &path, &query) == Some(Verb::Watch)
        }
        _ => false,
    }
}

fn too_many() -> Response {
    (
        StatusCode::TOO_MANY_REQUESTS,
        [
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("text/plain; charset=utf-8"),
            ),
            (
                header::X_CONTENT_TYPE_OPTIONS,
                HeaderValue::from_static("nosniff"),
            ),
            (header::RETRY_AFTER, HeaderValue::from_static("1")),
        ],
        "Too many requests, please try again later.\n",
    )
        .into_response()
}
