//! A server, or an intermediary, that fails.

use fakeserver_value::status::Status;
use http::StatusCode;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{Problem, pick, status_code},
};

/// The parameters of [`Fault::ServerError`](crate::faults::Fault::ServerError).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServerError {
    /// The status code, from 400 to 599, 500 by default.
    pub code: u16,
    /// The body; if `None`, a `Status` for 500, and text for any other code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<ErrorBody>,
}

/// The body of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorBody {
    /// A `Status` of the API server.
    Status,
    /// A line of text of a load balancer.
    Text,
    /// A page of a load balancer.
    Html,
}

impl Default for ServerError {
    fn default() -> Self {
        Self {
            code: 500,
            body: None,
        }
    }
}

impl Definition for ServerError {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F25",
        fault: "server_error",
        parameters: &["code", "body"],
        effect: "Answers a request with `code`, from 400 to 599. The `body` is a `status` of the API server, or a `text` or an \
                 `html` page of a load balancer; if absent, a `status` for 500, and a `text` for any other code.",
        models: "500, 502, 503 or 504, by the server or as text or a page by a load balancer",
        suffered: "kube-runtime 5.0: its backoff never grows while the first list fails",
        target: Target::Requests,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn problem(self) -> Option<Problem> {
        let is_error = (400..600).contains(&self.code);
        (!is_error).then(|| ("code", format!("{} is not from 400 to 599", self.code)))
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        let bodies = [
            None,
            Some(ErrorBody::Status),
            Some(ErrorBody::Text),
            Some(ErrorBody::Html),
        ];
        Self {
            code: pick(rng, &[500, 503, 504]),
            body: pick(rng, &bodies),
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let code = status_code(self.code);
        let body = self.body.unwrap_or(match self.code {
            500 => ErrorBody::Status,
            _ => ErrorBody::Text,
        });
        let reason = code.canonical_reason().unwrap_or("Error");
        let answer = match body {
            ErrorBody::Status => status(code, request),
            ErrorBody::Text => Answer::text(code, format!("{reason}\n")),
            ErrorBody::Html => {
                let title = format!("{} {reason}", code.as_u16());
                let page = format!(
                    "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n\
                     <hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
                );
                Answer::new(code, page).of_type("text/html")
            }
        };
        Some(RequestVerdict::Answer(answer))
    }
}

// === impl ServerError ===

impl ServerError {
    /// Returns the parameters for `code` with the body of that code.
    pub fn new(code: impl Into<u16>) -> Self {
        let code = code.into();
        Self { code, body: None }
    }
}

fn status(code: StatusCode, request: &RequestFacts) -> Answer {
    if code == StatusCode::INTERNAL_SERVER_ERROR {
        return Answer::of(&Status::internal("etcdserver: leader changed"));
    }
    let RequestFacts { verb, resource, .. } = request;
    let (reason, message) = match code.as_u16() {
        503 => (
            Some("ServiceUnavailable"),
            "the server is currently unable to handle the request".to_owned(),
        ),
        504 => (
            Some("Timeout"),
            format!(
                "The {verb} operation against {resource} could not be completed at this time, please try again."
            ),
        ),
        _ => {
            let reason = code.canonical_reason().unwrap_or("unknown");
            (
                None,
                format!(
                    "an error on the server ({reason:?}) has prevented the request from succeeding"
                ),
            )
        }
    };
    Answer::status(code, reason, &message)
}
