//! The answers that the plan gives in place of the server.

use axum::{body::Body, response::Response};
use fakeserver::faults::{Answer, RequestFacts};
use http::{HeaderValue, StatusCode, header};

use crate::{kinds::full_name, plan::Refusal};

/// Returns a watch of one event, the error of a version that is too old. API servers send it in this way, not as the
/// status of the answer.
pub(super) fn expired_watch() -> Answer {
    let status = Answer::status(
        StatusCode::GONE,
        Some("Expired"),
        "The resourceVersion for the provided watch is too old.",
    );
    let object = String::from_utf8_lossy(&status.body);
    let event = format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", object.trim_end());
    let mut answer = Answer::new(StatusCode::OK, event);
    answer.headers = status.headers;
    answer
}

/// Returns the answer of a refused write.
pub(super) fn refusal_answer(refusal: Refusal, facts: &RequestFacts) -> Answer {
    let name = facts.name.clone().unwrap_or_default();
    let about = full_name(&facts.resource, &facts.group);
    match refusal {
        Refusal::Conflict if facts.verb == "create" => Answer::status(
            StatusCode::CONFLICT,
            Some("Conflict"),
            &format!("Operation cannot be fulfilled on {about}: try again"),
        ),
        Refusal::Conflict => Answer::status(
            StatusCode::CONFLICT,
            Some("Conflict"),
            &format!(
                "Operation cannot be fulfilled on {about} \"{name}\": the object has been modified; please apply your \
                 changes to the latest version and try again"
            ),
        ),
        Refusal::Throttled => {
            let mut answer = Answer::status(
                StatusCode::TOO_MANY_REQUESTS,
                Some("TooManyRequests"),
                "Too many requests, please try again later.",
            );
            let wait = HeaderValue::from_static("1");
            answer.headers.insert(header::RETRY_AFTER, wait);
            answer
        }
        Refusal::Internal => Answer::status(
            StatusCode::INTERNAL_SERVER_ERROR,
            Some("InternalError"),
            "Internal error occurred: etcdserver: leader changed",
        ),
        Refusal::Timeout => Answer::status(
            StatusCode::GATEWAY_TIMEOUT,
            Some("Timeout"),
            "Timeout: request did not complete within requested timeout - context deadline exceeded",
        ),
        Refusal::Denied => Answer::status(
            StatusCode::BAD_REQUEST,
            None,
            "admission webhook \"survive.conformance.dev\" denied the request without explanation",
        ),
    }
}

/// Returns an answer as a response.
pub(super) fn respond(answer: Answer) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = answer.code;
    *response.headers_mut() = answer.headers;
    response
}
