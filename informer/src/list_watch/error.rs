//! Errors of requests, and their predicates.

use std::{fmt::Write, sync::Arc, time::Duration};

use crate::object::DecodeError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A failed list or watch. All of them may pass; how soon to try again is what the questions are for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListWatchError {
    /// The server answered with an error, as a response or as an ERROR event.
    #[error("the server answered {}: {}", .0.code, .0.message)]
    Status(Box<Status>),
    /// No answer, or not to its end: connection refused, reset, broken off in the middle of a frame.
    #[error("the connection failed")]
    Transport(#[source] Source),
    /// The server refuses connections.
    #[error("the server refuses connections")]
    Refused(#[source] Source),
    /// Nothing came within the time limit.
    #[error("no {what} within {limit:?}")]
    Timeout {
        /// The event that was waited for.
        what: &'static str,
        /// The time limit.
        limit: Duration,
    },
    /// The body is not what the API promises: broken JSON, an unknown event type, no version.
    #[error("the server sent {what}")]
    Protocol {
        /// The unexpected value, and its place in the body.
        what: String,
        /// The decoder's error.
        #[source]
        source: Option<Source>,
    },
    /// A frame or an item is larger than the limit.
    #[error("a frame is larger than {limit_bytes} bytes")]
    FrameTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// A request could not be made: a bad selector or address. Trying again is useless until the options change.
    #[error("the request cannot be made")]
    Request(#[source] Source),
    /// An object that does not decode, where one was all that was asked for.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// An API server's `Status`, as far as a client acts on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, as in `Expired`; empty if the answer had none.
    pub reason: String,
    /// The message for people.
    pub message: String,
    /// The details' causes.
    pub causes: Vec<StatusCause>,
    /// The delay before the next attempt: from the details, or the `Retry-After` header.
    pub retry_after: Option<Duration>,
}

/// One cause in a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusCause {
    /// The machine-readable reason, as in `ResourceVersionTooLarge`.
    pub reason: String,
    /// The message for people.
    pub message: String,
    /// The field at fault.
    pub field: String,
}

// === impl ListWatchError ===

impl ListWatchError {
    /// Returns the message with those of its causes, for logs and people. Of a decoder's error it has only the
    /// position: the decoder's message quotes the object.
    pub fn in_full(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(": ");
            match decoding(error) {
                Some(error) => {
                    let (line, column) = (error.line(), error.column());
                    // Writing to a string cannot fail.
                    let _ = write!(text, "at line {line}, column {column}");
                }
                None => text.push_str(&error.to_string()),
            }
            cause = error.source();
        }
        text
    }

    /// Returns whether the requested version is no longer in the server's history: list again.
    pub fn is_expired(&self) -> bool {
        self.status().is_some_and(Status::is_expired)
    }

    /// Returns whether the requested version is newer than the server's.
    pub fn is_too_large_resource_version(&self) -> bool {
        self.status()
            .is_some_and(Status::is_too_large_resource_version)
    }

    /// Returns whether the server does not know a parameter or rejects it (400, 422).
    pub fn is_invalid(&self) -> bool {
        self.status()
            .is_some_and(|status| matches!(status.code, 400 | 422))
    }

    /// Returns whether the server's address refuses connections.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// The least time to wait before trying again, if the server named one.
    pub fn retry_after(&self) -> Option<Duration> {
        self.status()?.retry_after
    }

    /// The server's answer, if there was one.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }
}

impl From<Status> for ListWatchError {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

// === impl Status ===

impl Status {
    /// A status without causes, which names no time to wait.
    pub fn new(code: u16, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// Returns whether the requested version is no longer in the server's history: 410, by either reason.
    pub fn is_expired(&self) -> bool {
        self.code == 410 || matches!(self.reason.as_str(), "Expired" | "Gone")
    }

    /// Returns whether the requested version is newer than the server's.
    pub fn is_too_large_resource_version(&self) -> bool {
        let is_too_large = |cause: &StatusCause| {
            cause.reason == "ResourceVersionTooLarge"
                || cause.message == "Too large resource version"
        };
        self.causes.iter().any(is_too_large) || self.message.contains("Too large resource version")
    }
}

/// The decoder's error that this is, if it is one.
fn decoding<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a serde_json::Error> {
    let shared = || error.downcast_ref::<Arc<serde_json::Error>>();
    error
        .downcast_ref::<serde_json::Error>()
        .or_else(|| shared().map(Arc::as_ref))
}
