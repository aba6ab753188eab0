//! The middleware that records each request.

use std::sync::Arc;

use axum::{body::Body, extract::Request, middleware::Next, response::Response};
use http::{HeaderValue, Method, header, request::Parts};
use http_body_util::BodyExt;

use super::{
    audit::AuditLog,
    requests::{RequestRecord, Requests},
    trace::{TraceLog, Traced},
};
use crate::{
    edge::request::{ApiPath, Query, query_text},
    faults::RequestFacts,
    store::Storage,
    verbs::Verb,
};

/// The number of bytes of a user agent that are remembered.
const AGENT_BYTES: usize = 1 << 10;
/// The number of bytes of a path, and of a query, that are remembered.
const PATH_BYTES: usize = 8 << 10;

/// The logs that a server keeps of its requests.
#[derive(Debug)]
pub(super) struct RequestLogs {
    pub(super) requests: Arc<Requests>,
    pub(super) audit: Option<AuditLog>,
    pub(super) trace: Option<TraceLog>,
}

/// Answers `request`, and records it. Requests to `/_control` are not recorded.
pub(super) async fn record(
    logs: &RequestLogs,
    storage: &Storage,
    request: Request,
    next: Next,
) -> Response {
    if request.uri().path().starts_with("/_control/") {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let requests = &logs.requests;
    let revision = storage.revision().get();
    let record = record_of(&parts, revision);
    let trace = logs.trace.as_ref();
    let traced = trace.and_then(|log| Traced::begin(log, &record));
    let number = requests.begin(record);
    let body = if requests.keeps_bodies {
        observed(requests, number, body)
    } else {
        body
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    requests.answered(number, response.status());
    match traced {
        Some(traced) => traced.answer(response),
        None => response,
    }
}

/// The body, each part of which is remembered when it is read.
fn observed(requests: &Arc<Requests>, number: u64, body: Body) -> Body {
    let requests = Arc::clone(requests);
    Body::new(body.map_frame(move |frame| {
        if let Some(part) = frame.data_ref() {
            requests.body(number, part);
        }
        frame
    }))
}

/// Returns the record of a request that arrives at a revision, with long parts cut.
fn record_of(parts: &Parts, revision: u64) -> RequestRecord {
    let uri = &parts.uri;
    let path = prefix(uri.path().as_bytes(), PATH_BYTES);
    let query = query_text(uri, &parts.extensions).unwrap_or_default();
    let query = prefix(query.as_bytes(), PATH_BYTES);
    let query = Query::parse(Some(&query));
    let agent = parts.headers.get(header::USER_AGENT);
    let agent = agent.map(HeaderValue::as_bytes).unwrap_or_default();
    let user_agent = prefix(agent, AGENT_BYTES);
    let client = user_agent.split('/').next().unwrap_or_default();
    let facts = RequestFacts {
        client: client.to_owned(),
        revision,
        ..facts(&parts.method, &path, &query)
    };
    RequestRecord {
        method: parts.method.clone(),
        path,
        facts,
        query: query.into_parameters(),
        user_agent,
        ..RequestRecord::default()
    }
}

/// Returns the facts in the path and the query of a request.
fn facts(method: &Method, path: &str, query: &Query) -> RequestFacts {
    let ApiPath::Resource(path) = ApiPath::parse(path) else {
        return RequestFacts::default();
    };
    let verb = Verb::of(method, &path, query);
    let continue_token = query.text("continue");
    RequestFacts {
        verb: verb.map_or("", Verb::name),
        resource_version: query.text("resourceVersion"),
        is_watch_list: verb == Some(Verb::Watch) && query.bool("sendInitialEvents") == Some(true),
        has_continue: verb == Some(Verb::List) && !continue_token.is_empty(),
        continue_token,
        group: path.group,
        version: path.version,
        resource: path.resource,
        subresource: path.subresource,
        namespace: path.namespace,
        name: path.name,
        ..RequestFacts::default()
    }
}

fn prefix(text: &[u8], limit_bytes: usize) -> String {
    let end = text.len().min(limit_bytes);
    String::from_utf8_lossy(&text[..end]).into_owned()
}
