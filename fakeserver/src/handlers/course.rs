//! What faults make of a request on its way to its handler, and of the answer on its way back.

use axum::response::Response;
use tokio::time::Instant;

use super::{load, shaping};
use crate::{
    faults::{self, Action, Connection, RequestFacts, Sight},
    revision::Revision,
    state::Core,
    status::Status,
};

/// How a request is served, and what its client hears of it.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// From a state no later than this.
    pub(super) sees: Option<Revision>,
    ordered: faults::Course,
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
        let verdict = core.faults.on_request(request);
        let ordered = verdict.carry_out(connection).await?;
        if let Some(action) = ordered.action {
            perform(core, action);
        }
        Ok(Self {
            sees: ordered.sight.map(|sight| seen(core, sight)),
            ordered,
        })
    }

    /// Whether it is served as by a server that knows nothing of streaming lists.
    pub(super) fn ignores_watch_list(&self) -> bool {
        self.ordered.ignores_watch_list
    }

    /// From which seed the order of initial events follows, if it is not that of names.
    pub(super) fn shuffle(&self) -> Option<u64> {
        self.ordered.shuffle
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
        if let Some(heard) = &self.ordered.heard_instead {
            return Ok(heard.response(connection));
        }
        let mut response = answer?;
        if let Some(rewrite) = self.ordered.rewrite {
            response = shaping::rewritten(response, rewrite).await;
        }
        Ok(match self.ordered.body {
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
