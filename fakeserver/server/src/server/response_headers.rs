//! The headers of all responses.

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use fakeserver_value::audit_annotations::AuditAnnotations;
use http::{HeaderName, HeaderValue, StatusCode, header};

use uuid::Uuid;

use super::audit::AuditId;
use crate::{edge::request::is_well_escaped, entropy::Entropy};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
const FLOW_SCHEMA: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const PRIORITY_LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");

/// Marks a response from before the classification of the request: it has no headers of flow control.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnclassifiedResponse;

/// Answers `request`, and adds the headers of every response.
pub(super) async fn wrap(
    entropy: &Entropy,
    is_audited: bool,
    (flow_schema, priority_level): (Uuid, Uuid),
    mut request: Request,
    next: Next,
) -> Response {
    // Go's server rejects such a request line before any handler runs, so the response has none of the headers below.
    if !is_well_escaped(request.uri().path()) {
        return malformed();
    }
    let audit_id = request.headers().get(AUDIT_ID).cloned();
    let audit_id = audit_id.unwrap_or_else(|| text(&entropy.audit_id()));
    let id = AuditId(audit_id.clone());
    request.extensions_mut().insert(id);
    if is_audited {
        request.extensions_mut().insert(AuditAnnotations::kept());
    }
    let mut response = next.run(request).await;
    // A connection that was upgraded has none of these headers.
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    let is_classified = response
        .extensions()
        .get::<UnclassifiedResponse>()
        .is_none();
    let headers = response.headers_mut();
    headers.insert(AUDIT_ID, audit_id);
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache, private"));
    if is_classified {
        headers.entry(FLOW_SCHEMA).or_insert(text(&flow_schema));
        headers
            .entry(PRIORITY_LEVEL)
            .or_insert(text(&priority_level));
    }
    response
}

/// Returns the response to a malformed request.
fn malformed() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CONNECTION, "close"),
    ];
    (StatusCode::BAD_REQUEST, headers, "400 Bad Request").into_response()
}

fn text(uid: &Uuid) -> HeaderValue {
    HeaderValue::from_str(&uid.to_string()).expect("uids are ASCII")
}
