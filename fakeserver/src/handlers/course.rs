//! What faults make of a request on its way to its handler, and of the answer on its way back.

use std::io::ErrorKind;

use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, sleep};

use super::{load, shaping};
use crate::{
    faults::{
        Action, Answer, BodyFault, Connection, RequestFacts, RequestVerdict, Rewrite, Severed,
        Sight,
    },
    revision::Revision,
    state::Core,
    status::Status,
};

/// How a request is served, and what its client hears of it.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// As a server does that knows nothing of streaming lists.
    pub(super) ignores_watch_list: bool,
    /// With initial events in an order that follows from this seed.
    pub(super) shuffle: Option<u64>,
    /// From a state no later than this.
    pub(super) sees: Option<Revision>,
    /// What is added to the objects in the answer.
    rewrite: Option<Rewrite>,
    /// How the body of the answer arrives.
    body: Option<BodyFault>,
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
    /// Waits as long as faults want, and gives how a request by `connection` is to be served; or the answer, if it is not
    /// to be.
    ///
    /// # Cancel safety
    ///
    /// A fault has fired, and nothing else has happened.
    pub(super) async fn of(
        core: &Core,
        connection: &Connection,
        request: &RequestFacts,
    ) -> Result<Self, Response> {
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
            RequestVerdict::ShuffleInitialEvents(seed) => course.shuffle = Some(seed),
            RequestVerdict::See(sight) => course.sees = Some(seen(core, sight)),
            RequestVerdict::Body(fault) => course.body = Some(fault),
            RequestVerdict::Rewrite(rewrite) => course.rewrite = Some(rewrite),
        }
        Ok(course)
    }

    /// What the client hears of a request that came by `connection`, when this is the answer.
    ///
    /// # Cancel safety
    ///
    /// The request has been served, and its client hears nothing.
    pub(super) async fn deliver(
        &self,
        connection: &Connection,
        answer: Result<Response, Status>,
    ) -> Result<Response, Status> {
        match &self.heard {
            Heard::Another(heard) => return Ok(heard.clone().into_response()),
            Heard::Nothing => return Ok(severed(connection, ErrorKind::ConnectionReset)),
            Heard::TheAnswer => {}
        }
        let mut response = answer?;
        if let Some(rewrite) = self.rewrite {
            response = shaping::rewritten(response, rewrite).await;
        }
        Ok(match self.body {
            Some(fault) => shaping::shaped(response, fault).await,
            None => response,
        })
    }
}

/// Does what a fault wants behind the API.
fn perform(core: &Core, action: Action) {
    match action {
        Action::Compact => core.storage.compact(),
        Action::Expire => core.storage.expire(),
        Action::Disconnect => core.watchers.disconnect(),
        Action::RollBack { revisions } => load::roll_back(core, revisions),
    }
}

/// The revision up to which somebody sees.
fn seen(core: &Core, sight: Sight) -> Revision {
    core.storage.view(|view| match sight {
        Sight::At(revision) => view.floored(Revision::new(revision)),
        Sight::Ago(lag) => match Instant::now().checked_sub(lag) {
            Some(then) => view.revision_at(then),
            None => view.floored(Revision::default()),
        },
    })
}

/// An answer that never comes: the transport makes an error of it.
fn severed(connection: &Connection, kind: ErrorKind) -> Response {
    connection.reset();
    let mut response = Response::default();
    response.extensions_mut().insert(Severed(kind));
    response
}
