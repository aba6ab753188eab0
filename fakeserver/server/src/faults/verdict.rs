//! Verdicts of rules on requests and frames.

use std::{io, time::Duration};

use bytes::Bytes;
use fakeserver_value::status::Status;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::Rewrite;

/// The serving of a request, and the delivery of its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestVerdict {
    /// Serves the request.
    #[default]
    Pass,
    /// Waits, and then serves the request.
    Delay(Duration),
    /// Serves the request, and waits before the head of the answer is sent; the body follows without a delay.
    DelayHead(Duration),
    /// Answers without serving the request.
    Answer(Answer),
    /// Waits, and then answers without serving the request.
    AnswerLater {
        /// The wait.
        after: Duration,
        /// The answer.
        answer: Answer,
    },
    /// Never answers: no headers are sent.
    Hang,
    /// Fails the transport without serving the request: in process with this error, over TCP by a reset connection.
    Sever(io::ErrorKind),
    /// Fails the transport as [`Sever`](Self::Sever) does, and over TCP refuses connections for this long.
    ///
    /// [`Faults::on_request`](super::Faults::on_request) closes the [`ListenGate`](super::ListenGate) itself, and returns
    /// [`Sever`](Self::Sever).
    Refuse(Duration),
    /// Sends the client a GOAWAY; in process, fails the transport without serving the request.
    GoAway,
    /// Serves the request, and replaces the answer.
    ReplaceAnswer(Replacement),
    /// Performs this behind the API, and then serves the request.
    Perform(Action),
    /// Serves the request as a server whose watch cache does not catch up within this time.
    LateCache(Duration),
    /// Serves the request as a server that ignores `sendInitialEvents`.
    IgnoreWatchList,
    /// Serves the request; the initial events of a watch come in an order drawn from this seed.
    ShuffleInitialEvents(u64),
    /// Serves the request; a read returns no newer state than this.
    BoundRead(ReadBound),
    /// Serves the request; the body of the answer arrives like this, unless it is a stream.
    Body(BodyFault),
    /// Serves the request, and adds this to the objects in the answer, if that is JSON and no stream.
    Rewrite(Rewrite),
}

/// Sent in place of the answer to a request that was served.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: another answer, or none"
)]
pub enum Replacement {
    /// Another answer.
    Answer(Answer),
    /// No answer: the transport fails.
    Disconnect,
}

/// The newest state that a read may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadBound {
    /// The state at this revision.
    Revision(u64),
    /// The state of this long ago.
    Age(Duration),
}

/// The fault of an answer's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyFault {
    /// Sends half of it, and then fails the transport.
    Break,
    /// Sends it in pieces of equal size, with a pause before each.
    Trickle {
        /// The size of a piece.
        bytes: usize,
        /// The pause.
        every: Duration,
    },
    /// Sends it in pieces of random sizes.
    Cut {
        /// The seed of the sizes.
        seed: u64,
    },
}

/// A change that a server makes behind its API.
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
        /// The number of revisions that are undone.
        revisions: u64,
    },
}

/// An answer made without the server: by a fault, or by an intermediary that a fault plays.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The status code.
    pub code: StatusCode,
    /// The headers, apart from those of every answer.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// Marks an answer that never reaches its client, among its extensions: the transport fails with an error of this kind.
///
/// [`FakeServer::client`](crate::FakeServer::client) and its like fail with it; over TCP the connection has been reset.
/// A caller of the [router](crate::FakeServer::router) has to look for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: one error"
)]
pub struct SeveredConnection(pub io::ErrorKind);

/// The sending of a watch's frame, and the continuation of its stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameVerdict {
    /// Sends the frame.
    #[default]
    Pass,
    /// Waits, and then sends the frame; later frames wait too.
    Delay(Duration),
    /// Ends the stream cleanly before the frame.
    End,
    /// Ends the stream cleanly after the frame.
    EndAfter,
    /// Sends this in place of the frame, and ends the stream cleanly.
    EndWith(Bytes),
    /// Sends nothing for a while, then this, and ends the stream cleanly.
    EndLater {
        /// The wait.
        after: Duration,
        /// The last bytes of the stream.
        with: Bytes,
    },
    /// Sends the frame and all queued frames, and ends the stream cleanly.
    Evict,
    /// Sends a part of the frame, and fails the transport.
    Reset {
        /// The size of the part.
        after_bytes: usize,
    },
    /// Sends nothing more, and keeps the stream open.
    Silence,
    /// Sends the client a GOAWAY, and continues; in process, fails the transport before the frame.
    GoAway,
    /// Leaves the frame out.
    Drop,
    /// Sends the frame twice.
    Duplicate,
    /// Sends the frame after the next one.
    SwapWithNext,
    /// Sends this in place of the frame.
    Replace(Bytes),
    /// Sends the frame with this added to its object.
    Rewrite(Rewrite),
    /// Sends the frame together with the next one, if that follows soon.
    JoinNext,
    /// Sends the frame in pieces that end at these offsets.
    Cut(Vec<usize>),
    /// Sends the frame in pieces of equal size, with a pause after each.
    Trickle {
        /// The size of a piece.
        bytes: usize,
        /// The pause.
        every: Duration,
    },
    /// Waits, and then sends the frame unless its object has changed again.
    Coalesce(Duration),
    /// Sends the frame once its rule no longer [holds](super::Rule::holds) it.
    Hold,
    /// Sends the frame, the end of the initial events, this much later; changes go before it.
    PostponeEnd(Duration),
}

// === impl Answer ===

impl Answer {
    /// Returns an answer without headers of its own.
    pub fn new(code: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            code,
            headers: HeaderMap::new(),
            body: body.into(),
        }
    }

    /// Returns an answer of plain text, as intermediaries send it.
    pub fn text(code: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::new(code, body).of_type("text/plain; charset=utf-8")
    }

    /// Returns an answer with a `Status`, as an API server sends it.
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

    /// Returns the answer with which this server reports `status`.
    pub(super) fn of(status: &Status) -> Self {
        let mut body = status.to_json();
        body.push(b'\n');
        let mut answer = Self::new(status.code, body).of_type("application/json");
        if let Some(seconds) = status.retry_after_seconds() {
            answer.headers.insert(header::RETRY_AFTER, seconds.into());
        }
        answer
    }

    /// Returns a watch of one ERROR event.
    pub(super) fn error_event(status: &Status) -> Self {
        Self::new(StatusCode::OK, error_frame(status)).of_type("application/json")
    }

    pub(super) fn of_type(mut self, media_type: &'static str) -> Self {
        let media_type = HeaderValue::from_static(media_type);
        self.headers.insert(header::CONTENT_TYPE, media_type);
        self
    }

    /// Adds `X-Content-Type-Options: nosniff`, as load balancers and Go's own text answers have it.
    pub(super) fn without_sniffing(mut self) -> Self {
        let nosniff = HeaderValue::from_static("nosniff");
        self.headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        self
    }
}

/// Returns the frame of an ERROR event.
pub(super) fn error_frame(status: &Status) -> Bytes {
    let mut frame = br#"{"type":"ERROR","object":"#.to_vec();
    frame.extend_from_slice(&status.to_json());
    frame.extend_from_slice(b"}\n");
    frame.into()
}
