//! What faults make of a request on its way to its handler.

use std::io::ErrorKind;

use axum::response::{IntoResponse, Response};
use tokio::time::sleep;

use super::Call;
use crate::{
    faults::{Action, Answer, Connection, RequestFacts, RequestVerdict, Severed},
    state::Core,
};

/// How a request is served, and what its client hears of it.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// As a server does that knows nothing of streaming lists.
    pub(super) ignores_watch_list: bool,
    heard: Heard,
}

/// What the client hears of a request that was served.
#[derive(Debug, Default)]
enum Heard {
    #[default]
    TheAnswer,
    Another(Answer),
    Nothing,
}

// === impl Course ===

impl Course {
    /// Waits as long as faults want, and gives how the request is to be served; or the answer, if it is not to be.
    ///
    /// # Cancel safety
    ///
    /// A fault has fired, and nothing else has happened.
    pub(super) async fn of(call: &Call<'_>, request: &RequestFacts) -> Result<Self, Response> {
        let (core, connection) = (&*call.server.core, &call.connection);
        let mut course = Self::default();
        match core.faults.on_request(request) {
            RequestVerdict::Pass => {}
            RequestVerdict::Delay(delay) => sleep(delay).await,
            RequestVerdict::Answer(answer) => return Err(answer.into_response()),
            RequestVerdict::AnswerLater { after, answer } => {
                sleep(after).await;
                return Err(answer.into_response());
            }
            RequestVerdict::Hang => std::future::pending().await,
            RequestVerdict::Sever(kind) => return Err(severed(connection, kind)),
            RequestVerdict::GoAway if connection.is_over_tcp() => connection.go_away(),
            RequestVerdict::GoAway => {
                return Err(severed(connection, ErrorKind::ConnectionAborted));
            }
            RequestVerdict::Lose(heard) => {
                course.heard = heard.map_or(Heard::Nothing, Heard::Another);
            }
            RequestVerdict::Perform(action) => perform(core, action),
            RequestVerdict::IgnoreWatchList => course.ignores_watch_list = true,
        }
        Ok(course)
    }

    /// What the client hears of a request that came by `connection`, instead of the answer.
    pub(super) fn heard_instead(self, connection: &Connection) -> Option<Response> {
        match self.heard {
            Heard::TheAnswer => None,
            Heard::Another(answer) => Some(answer.into_response()),
            Heard::Nothing => Some(severed(connection, ErrorKind::ConnectionReset)),
        }
    }
}

/// Does what a fault wants behind the API.
pub(crate) fn perform(core: &Core, action: Action) {
    match action {
        Action::Compact => core.storage.compact(),
        Action::Expire => core.storage.expire(),
        Action::Disconnect => core.watchers.disconnect(),
    }
}

/// An answer that never comes: the transport makes an error of it.
fn severed(connection: &Connection, kind: ErrorKind) -> Response {
    connection.reset();
    let mut response = Response::default();
    response.extensions_mut().insert(Severed(kind));
    response
}
