//! The part of a verdict that remains for the code that serves the request.

use std::{io::ErrorKind, time::Duration};

use axum::response::{IntoResponse, Response};
use tokio::time::sleep;

use super::{
    Action, BodyFault, Connection, ReadBound, Replacement, RequestVerdict, Rewrite,
    SeveredConnection,
};

/// The rest of a [`RequestVerdict`] after its waits: the serving of a request, and the delivery of its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disposition {
    /// Performed behind the API before the request is served.
    pub action: Option<Action>,
    /// The time that a list of the latest state waits for the watch cache, in vain.
    pub late_cache: Option<Duration>,
    /// True if `sendInitialEvents` is ignored.
    pub ignores_watch_list: bool,
    /// The seed of the order of initial events; they are sorted by name if `None`.
    pub shuffle: Option<u64>,
    /// The newest revision that a read may return.
    pub read_bound: Option<ReadBound>,
    /// Added to the objects in the answer.
    pub rewrite: Option<Rewrite>,
    /// The delay of the answer's head after the request was served, also if it failed.
    pub head_delay: Option<Duration>,
    /// The fault of the answer's body, unless it is a stream.
    pub body: Option<BodyFault>,
    /// Sent in place of the answer.
    pub replacement: Option<Replacement>,
}

// === impl RequestVerdict ===

impl RequestVerdict {
    /// Waits for the verdict's delay, and returns how to serve the request of `connection`.
    ///
    /// # Errors
    ///
    /// The answer, if the request is not to be served. An answer with [`SeveredConnection`] among its extensions never reaches the
    /// client.
    ///
    /// # Cancel safety
    ///
    /// The request has not been served.
    pub async fn carry_out(self, connection: &Connection) -> Result<Disposition, Response> {
        let mut disposition = Disposition::default();
        match self {
            Self::Pass => {}
            Self::Delay(delay) => sleep(delay).await,
            Self::Answer(answer) => return Err(answer.into_response()),
            Self::AnswerLater { after, answer } => {
                sleep(after).await;
                return Err(answer.into_response());
            }
            Self::Hang => std::future::pending().await,
            Self::Sever(kind) => return Err(severed(connection, kind)),
            Self::Refuse(_) => return Err(severed(connection, ErrorKind::ConnectionRefused)),
            // The request itself is still served, as HTTP/2 completes open streams.
            Self::GoAway if connection.is_over_tcp() => connection.go_away(),
            Self::GoAway => return Err(severed(connection, ErrorKind::ConnectionAborted)),
            Self::DelayHead(delay) => disposition.head_delay = Some(delay),
            Self::ReplaceAnswer(replacement) => disposition.replacement = Some(replacement),
            Self::Perform(action) => disposition.action = Some(action),
            Self::LateCache(wait) => disposition.late_cache = Some(wait),
            Self::IgnoreWatchList => disposition.ignores_watch_list = true,
            Self::ShuffleInitialEvents(seed) => disposition.shuffle = Some(seed),
            Self::BoundRead(bound) => disposition.read_bound = Some(bound),
            Self::Body(fault) => disposition.body = Some(fault),
            Self::Rewrite(rewrite) => disposition.rewrite = Some(rewrite),
        }
        Ok(disposition)
    }
}

// === impl Disposition ===

impl Disposition {
    /// Waits for as long as the head of the answer is delayed, after the request was served.
    ///
    /// # Cancel safety
    ///
    /// The request has been served, and its client receives nothing.
    pub async fn delay_head(&self) {
        if let Some(delay) = self.head_delay {
            sleep(delay).await;
        }
    }
}

// === impl Replacement ===

impl Replacement {
    /// Returns the response for a client that came by `connection`.
    pub fn response(&self, connection: &Connection) -> Response {
        match self {
            Self::Answer(answer) => answer.clone().into_response(),
            Self::Disconnect => severed(connection, ErrorKind::ConnectionReset),
        }
    }
}

/// Returns an answer that the transport turns into an error.
fn severed(connection: &Connection, kind: ErrorKind) -> Response {
    // Over TCP the connection breaks before anything is written. In process there is none: the extension becomes the
    // transport's error.
    connection.reset();
    let mut response = Response::default();
    response.extensions_mut().insert(SeveredConnection(kind));
    response
}
