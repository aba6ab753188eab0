//! A server, or something before it, that fails.

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// Who says that something has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorBody {
    /// The API server, with a `Status`.
    Status,
    /// A load balancer, with a line of text.
    Text,
    /// A load balancer, with a page for people.
    Html,
}

/// See [`server_error`].
#[derive(Debug, Clone, Copy)]
pub struct ServerError {
    code: StatusCode,
    body: Option<ErrorBody>,
}

/// A request is answered with `code`: 500 with a `Status`, anything else (502, 503, 504) with the text of a load balancer.
pub fn server_error(code: StatusCode) -> NamedRule<ServerError> {
    NamedRule::new(ServerError { code, body: None })
}

// === impl ServerError ===

impl NamedRule<ServerError> {
    /// The body is this, whatever the code.
    pub fn with_body(mut self, body: ErrorBody) -> Self {
        self.effect_mut().body = Some(body);
        self
    }
}

impl ServerError {
    fn status(self, request: &RequestFacts) -> Answer {
        if self.code == StatusCode::INTERNAL_SERVER_ERROR {
            return Answer::of(&Status::internal("etcdserver: leader changed"));
        }
        let RequestFacts { verb, resource, .. } = request;
        let (reason, message) = match self.code.as_u16() {
            503 => (
                "ServiceUnavailable",
                "the server is currently unable to handle the request".to_owned(),
            ),
            504 => (
                "Timeout",
                format!(
                    "The {verb} operation against {resource} could not be completed at this time, please try again."
                ),
            ),
            _ => {
                let reason = self.code.canonical_reason().unwrap_or("unknown");
                (
                    "",
                    format!(
                        "an error on the server ({reason:?}) has prevented the request from succeeding"
                    ),
                )
            }
        };
        let reason = (!reason.is_empty()).then_some(reason);
        Answer::status(self.code, reason, &message)
    }
}

impl Effect for ServerError {
    fn name(&self) -> &'static str {
        "server_error"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let body = self.body.unwrap_or(match self.code {
            StatusCode::INTERNAL_SERVER_ERROR => ErrorBody::Status,
            _ => ErrorBody::Text,
        });
        let code = self.code;
        let reason = code.canonical_reason().unwrap_or("Error");
        let answer = match body {
            ErrorBody::Status => self.status(request),
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
