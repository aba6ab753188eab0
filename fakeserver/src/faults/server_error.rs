//! A server, or something before it, that fails.

use http::{HeaderValue, StatusCode, header};

use super::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`server_error`].
#[derive(Debug, Clone, Copy)]
pub struct ServerError {
    code: StatusCode,
}

/// A request is answered with `code`: 500 with a `Status`, anything else (502, 503, 504) with the text of a load balancer.
pub fn server_error(code: StatusCode) -> NamedRule<ServerError> {
    NamedRule::new(ServerError { code })
}

impl Effect for ServerError {
    const NAME: &'static str = "server_error";

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        let answer = if self.code == StatusCode::INTERNAL_SERVER_ERROR {
            Answer::status(
                self.code,
                Some("InternalError"),
                "Internal error occurred: etcdserver: leader changed",
            )
        } else {
            let reason = self.code.canonical_reason().unwrap_or("Error");
            let mut answer = Answer::new(self.code, format!("{reason}\n"));
            answer.headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("text/plain; charset=utf-8"),
            );
            answer
        };
        Some(RequestVerdict::Answer(answer))
    }
}
