//! What a rule may order.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};

/// What becomes of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestVerdict {
    /// It is served.
    #[default]
    Pass,
    /// It is served this much later.
    Delay(Duration),
    /// It is not served, but answered.
    Answer(Answer),
    /// It is never answered: no headers come.
    Hang,
    /// It is served as if `sendInitialEvents` were a parameter that the server has never heard of.
    IgnoreWatchList,
}

/// An answer from somewhere before the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The status code.
    pub code: StatusCode,
    /// The headers, apart from those that every answer has.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// What becomes of a frame, and of the stream behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameVerdict {
    /// It is sent.
    #[default]
    Pass,
    /// It is sent this much later; what is behind it waits.
    Delay(Duration),
    /// The stream ends cleanly before it.
    End,
    /// The stream ends cleanly after it.
    EndAfter,
    /// This is sent instead, and then the stream ends cleanly.
    EndWith(Bytes),
    /// This much of it is sent, and then the transport fails.
    Reset {
        /// How many bytes of it are sent.
        after_bytes: usize,
    },
    /// Nothing is sent any more, and the stream stays open.
    Silence,
    /// It is not sent.
    Drop,
    /// It is sent twice.
    Duplicate,
    /// It is sent after the next one.
    SwapWithNext,
    /// This is sent instead.
    Replace(Bytes),
}

// === impl Answer ===

impl Answer {
    /// An answer without headers of its own.
    pub fn new(code: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            code,
            headers: HeaderMap::new(),
            body: body.into(),
        }
    }

    /// The answer of an API server: a `Status`.
    pub fn status(code: StatusCode, reason: Option<&str>, message: &str) -> Self {
        let mut status = serde_json::json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "code": code.as_u16(),
        });
        if let Some(reason) = reason {
            status["reason"] = reason.into();
        }
        let mut answer = Self::new(code, format!("{status}\n"));
        answer.headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        answer
    }
}
