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
    edge::request::{ApiPath, Query},
    state::{RequestRecord, Server},
    verbs::Verb,
};

/// The number of bytes of a user agent that are remembered.
const AGENT_BYTES: usize = 1 << 10;
/// The number of bytes of a path, and of a query, that are remembered.
const PATH_BYTES: usize = 8 << 10;

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

/// Returns the record of a request, with long parts cut.
fn understood(parts: &Parts) -> RequestRecord {
    let uri = &parts.uri;
    let path = beginning(uri.path().as_bytes(), PATH_BYTES);
    let query = beginning(uri.query().unwrap_or_default().as_bytes(), PATH_BYTES);
    let query = Query::parse(Some(&query));
    let agent = parts.headers.get(header::USER_AGENT);
    let agent = agent.map(HeaderValue::as_bytes).unwrap_or_default();
    let mut record = RequestRecord {
        method: parts.method.clone(),
        user_agent: beginning(agent, AGENT_BYTES),
        ..RequestRecord::default()
    };
    if let ApiPath::Resource(path) = ApiPath::parse(&path) {
        record.verb = Verb::of(&parts.method, &path, &query).map_or("", Verb::name);
        record.group = path.group;
        record.version = path.version;
        record.resource = path.resource;
        record.subresource = path.subresource;
        record.namespace = path.namespace;
        record.name = path.name;
    }
    record.path = path;
    record.query = query.into_parameters();
    record
}

fn beginning(text: &[u8], limit_bytes: usize) -> String {
    let end = text.len().min(limit_bytes);
    String::from_utf8_lossy(&text[..end]).into_owned()
}
