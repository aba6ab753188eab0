//! Each request goes past here, and is remembered.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderValue, header, request::Parts};
use http_body_util::BodyExt;

use crate::{
    handlers::Verb,
    request::{ApiPath, Query},
    state::{RequestRecord, Server},
};

/// Answers `request`, and remembers it. What controls the server is no request to its API.
pub(super) async fn record(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    if request.uri().path().starts_with("/_control/") {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let requests = &server.core.requests;
    let number = requests.begin(understood(&parts));
    let body = if requests.keeps_bodies {
        observed(&server, number, body)
    } else {
        body
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    requests.answered(number, response.status());
    response
}

/// The body, each part of which is remembered when it is read.
fn observed(server: &Arc<Server>, number: u64, body: Body) -> Body {
    let core = Arc::clone(&server.core);
    Body::new(body.map_frame(move |frame| {
        if let Some(part) = frame.data_ref() {
            core.requests.body(number, part);
        }
        frame
    }))
}

fn understood(parts: &Parts) -> RequestRecord {
    let query = Query::parse(parts.uri.query());
    let agent = parts.headers.get(header::USER_AGENT);
    let agent = agent.map(HeaderValue::as_bytes).unwrap_or_default();
    let mut record = RequestRecord {
        method: parts.method.clone(),
        path: parts.uri.path().to_owned(),
        user_agent: String::from_utf8_lossy(agent).into_owned(),
        ..RequestRecord::default()
    };
    if let ApiPath::Resource(path) = ApiPath::parse(parts.uri.path()) {
        record.verb = Verb::of(&parts.method, &path, &query).map_or("", Verb::name);
        record.group = path.group;
        record.version = path.version;
        record.resource = path.resource;
        record.subresource = path.subresource;
        record.namespace = path.namespace;
        record.name = path.name;
    }
    record.query = query.into_parameters();
    record
}
