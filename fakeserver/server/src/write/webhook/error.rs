//! Errors of webhook calls, worded as in Go, since clients read them.

use std::io;

use http::StatusCode;
use thiserror::Error;

/// A webhook gave no readable response. A retry may succeed; the server does not retry.
#[derive(Debug, Error)]
pub enum WebhookError {
    /// There was no connection, or it broke, or time was up.
    #[error("Post {url:?}: {problem}")]
    Post { url: String, problem: String },
    /// The answer was not 200.
    #[error("{0}")]
    Refused(String),
    /// The answer is not the JSON of an object.
    #[error("{0}")]
    Unreadable(String),
}

// === impl WebhookError ===

impl WebhookError {
    pub(super) fn post(url: &str, problem: impl Into<String>) -> Self {
        Self::Post {
            url: url.to_owned(),
            problem: problem.into(),
        }
    }

    /// Returns the error of Go's client for an answer without a status. `text` is the body, if it is text.
    pub(super) fn of_code(code: StatusCode, text: Option<&str>) -> Self {
        let message = text.map_or("unknown", str::trim);
        let message = match code.as_u16() {
            400 => "the server rejected our request for an unknown reason",
            401 => "the server has asked for the client to provide credentials",
            403 => message,
            404 => "the server could not find the requested resource",
            405 => "the server does not allow this method on the requested resource",
            406 => "the server was unable to respond with a content type that the client supports",
            409 => "the server reported a conflict",
            415 => "the server was unable to understand the content type that the client supports",
            422 => "the server rejected our request due to an error in our request",
            429 => "the server has received too many requests and has asked us to try again later",
            503 => "the server is currently unable to handle the request",
            504 => {
                "the server was unable to return a response in the time allotted, but may still be processing the \
                 request"
            }
            code if code >= 500 => {
                return Self::Refused(format!(
                    "an error on the server ({message:?}) has prevented the request from succeeding"
                ));
            }
            code => {
                return Self::Refused(format!(
                    "the server responded with the status code {code} but did not return more information"
                ));
            }
        };
        Self::Refused(message.to_owned())
    }
}

/// Returns the reason why an address could not be reached.
pub fn dial_problem(address: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("dial tcp {address}: connect: connection refused")
        }
        io::ErrorKind::ConnectionReset => format!("read tcp {address}: connection reset by peer"),
        io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        _ => format!("dial tcp {address}: {error}"),
    }
}
