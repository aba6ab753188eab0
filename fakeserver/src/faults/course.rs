//! What is left of a verdict about a request when its waiting and answering is done.

use std::io::ErrorKind;

use axum::response::{IntoResponse, Response};
use tokio::time::sleep;

use super::{Action, Answer, BodyFault, Connection, RequestVerdict, Rewrite, Severed, Sight};

/// How a request is served, and what its client hears of it: what a [`RequestVerdict`] leaves to whoever serves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Course {
    /// What the server does behind its API, before it serves it.
    pub action: Option<Action>,
    /// As a server does that knows nothing of streaming lists.
    pub ignores_watch_list: bool,
    /// With initial events in an order that follows from this seed.
    pub shuffle: Option<u64>,
    /// From no more than can be seen so.
    pub sight: Option<Sight>,
    /// What is added to the objects in the answer.
    pub rewrite: Option<Rewrite>,
    /// How the body of the answer arrives, if it is no stream.
    pub body: Option<BodyFault>,
    /// What the client hears, if it is not the answer.
    pub heard_instead: Option<Heard>,
}

/// What a client hears of a request that was served, in place of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: something else, or nothing"
)]
pub enum Heard {
    /// Another answer.
    Answer(Answer),
    /// Nothing but a transport that fails.
    Nothing,
}

// === impl RequestVerdict ===

impl RequestVerdict {
    /// Waits as long as it says, and gives how the request, which came by `connection`, is to be served.
    ///
    /// # Errors
    ///
    /// What is answered, if the request is not to be served; [`Severed`] stands among the extensions of an answer that
    /// never reaches its client.
    ///
    /// # Cancel safety
    ///
    /// Nothing has happened yet.
    pub async fn carry_out(self, connection: &Connection) -> Result<Course, Response> {
        let mut course = Course::default();
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
            Self::GoAway if connection.is_over_tcp() => connection.go_away(),
            Self::GoAway => return Err(severed(connection, ErrorKind::ConnectionAborted)),
            Self::Lose(heard) => {
                course.heard_instead = Some(heard.map_or(Heard::Nothing, Heard::Answer));
            }
            Self::Perform(action) => course.action = Some(action),
            Self::IgnoreWatchList => course.ignores_watch_list = true,
            Self::ShuffleInitialEvents(seed) => course.shuffle = Some(seed),
            Self::See(sight) => course.sight = Some(sight),
            Self::Body(fault) => course.body = Some(fault),
            Self::Rewrite(rewrite) => course.rewrite = Some(rewrite),
        }
        Ok(course)
    }
}

// === impl Heard ===

impl Heard {
    /// The response to a client that came by `connection`.
    pub fn response(&self, connection: &Connection) -> Response {
        match self {
            Self::Answer(answer) => answer.clone().into_response(),
            Self::Nothing => severed(connection, ErrorKind::ConnectionReset),
        }
    }
}

/// An answer that never comes: the transport makes an error of it.
fn severed(connection: &Connection, kind: ErrorKind) -> Response {
    connection.reset();
    let mut response = Response::default();
    response.extensions_mut().insert(Severed(kind));
    response
}
