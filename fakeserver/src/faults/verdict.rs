//! What a rule may order.

use std::{io, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::Rewrite;
use crate::status::Status;

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
    /// It is not served, but answered so much later.
    AnswerLater {
        /// When.
        after: Duration,
        /// With what.
        answer: Answer,
    },
    /// It is never answered: no headers come.
    Hang,
    /// It is not served, and the transport fails: in process with this error, over TCP by a connection that is reset.
    Sever(io::ErrorKind),
    /// The same as by a server that is away, and over TCP nobody listens for so long. The faults close the
    /// [`Door`](super::Door) by themselves: whoever asks them is told to [sever](Self::Sever).
    Refuse(Duration),
    /// Its client is asked to leave its connection; in process it is not served, and the transport fails.
    GoAway,
    /// It is served, but its client hears this instead of the answer; of nothing but a transport that fails, if it is
    /// `None`.
    Lose(Option<Answer>),
    /// The server does this first, and then serves it.
    Perform(Action),
    /// It is served as if `sendInitialEvents` were a parameter that the server has never heard of.
    IgnoreWatchList,
    /// It is served, and the events that a watch begins with come in an order that follows from this seed.
    ShuffleInitialEvents(u64),
    /// It is served, if it reads, from no more than can be seen so.
    See(Sight),
    /// It is served, and the body of the answer, if it is no stream, arrives so.
    Body(BodyFault),
    /// It is served, and this is added to the objects in the answer, if that is JSON and no stream.
    Rewrite(Rewrite),
}

/// How far a read can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sight {
    /// Up to this revision.
    At(u64),
    /// What was so long ago.
    Ago(Duration),
}

/// How the body of an answer arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyFault {
    /// Half of it, and then the transport fails.
    Break,
    /// So many bytes at a time, and each time so much later.
    Trickle {
        /// How many.
        bytes: usize,
        /// How much later.
        every: Duration,
    },
    /// Cut where dice say that follow from this seed.
    Cut {
        /// The seed.
        seed: u64,
    },
}

/// What a server does behind its API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// [`compact`](crate::FakeServer::compact)
    Compact,
    /// [`expire`](crate::FakeServer::expire)
    Expire,
    /// [`disconnect`](crate::FakeServer::disconnect)
    Disconnect,
    /// [`roll_back`](crate::FakeServer::roll_back)
    RollBack {
        /// By how many revisions.
        revisions: u64,
    },
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

/// Stands among the extensions of an answer that never reaches its client: the transport fails with an error of this kind.
///
/// [`FakeServer::client`](crate::FakeServer::client) and its like fail so, and over TCP the connection has been reset.
/// Whoever calls the [router](crate::FakeServer::router) itself has to look for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: one error"
)]
pub struct Severed(pub io::ErrorKind);

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
    /// Nothing is sent for a while, then this, and then the stream ends cleanly.
    EndLater {
        /// How long nothing is sent.
        after: Duration,
        /// What is sent then.
        with: Bytes,
    },
    /// It is sent, what is queued behind it too, and then the stream ends cleanly.
    Evict,
    /// This much of it is sent, and then the transport fails.
    Reset {
        /// How many bytes of it are sent.
        after_bytes: usize,
    },
    /// Nothing is sent any more, and the stream stays open.
    Silence,
    /// Its client is asked to leave its connection, on which the stream goes on; in process the transport fails before it.
    GoAway,
    /// It is not sent.
    Drop,
    /// It is sent twice.
    Duplicate,
    /// It is sent after the next one.
    SwapWithNext,
    /// This is sent instead.
    Replace(Bytes),
    /// It is sent with this in its object.
    Rewrite(Rewrite),
    /// It is sent together with the next one, if that comes soon.
    JoinNext,
    /// It is sent in pieces that end at these places.
    Cut(Vec<usize>),
    /// It is sent so many bytes at a time, and each time so much later.
    Trickle {
        /// How many.
        bytes: usize,
        /// How much later.
        every: Duration,
    },
    /// It is not sent if its object has changed again so much later, when it is sent otherwise.
    Coalesce(Duration),
    /// It is sent when its rule [holds](super::Rule::holds) it no more.
    Hold,
    /// It is the end of the initial events, and is sent so much later; changes go before it.
    PostponeEnd(Duration),
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

    /// The answer of something that knows nothing of the API: text.
    pub fn text(code: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::new(code, body).of_type("text/plain; charset=utf-8")
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
        Self::new(code, format!("{status}\n")).of_type("application/json")
    }

    /// The same, with all that this server says of it.
    pub(super) fn of(status: &Status) -> Self {
        let mut body = status.to_json();
        body.push(b'\n');
        let mut answer = Self::new(status.code, body).of_type("application/json");
        if let Some(seconds) = status.retry_after_seconds() {
            answer.headers.insert(header::RETRY_AFTER, seconds.into());
        }
        answer
    }

    /// A watch that brings nothing but this error, and ends.
    pub(super) fn error_event(status: &Status) -> Self {
        Self::new(StatusCode::OK, error_frame(status)).of_type("application/json")
    }

    pub(super) fn of_type(mut self, media_type: &'static str) -> Self {
        let media_type = HeaderValue::from_static(media_type);
        self.headers.insert(header::CONTENT_TYPE, media_type);
        self
    }

    /// As load balancers and Go's own text answers have it: no client is to guess what the body might be.
    pub(super) fn without_sniffing(mut self) -> Self {
        let nosniff = HeaderValue::from_static("nosniff");
        self.headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        self
    }
}

/// The frame of a watch that tells what is wrong.
pub(super) fn error_frame(status: &Status) -> Bytes {
    let mut frame = br#"{"type":"ERROR","object":"#.to_vec();
    frame.extend_from_slice(&status.to_json());
    frame.extend_from_slice(b"}\n");
    frame.into()
}
