//! Applies fault verdicts to a request on its way to its handler, and to the answer on its way back.

use std::time::Duration;

use axum::response::Response;
use fakeserver_value::{revision::Revision, status::Status};
use tokio::time::Instant;

use super::{Api, shaping};
use crate::{
    controllers,
    faults::{Action, Connection, Disposition, ReadBound, RequestFacts},
    store::Storage,
    write::Backend,
};

/// The verdict of the rules on one request, and the store's revision that it allows.
#[derive(Debug, Default)]
pub(super) struct RequestFaults {
    /// The newest revision that a read may return.
    pub(super) sees: Option<Revision>,
    disposition: Disposition,
}

// === impl RequestFaults ===

impl RequestFaults {
    /// Applies the fault rules to a request of `connection`, and returns how to serve it, or the response that replaces
    /// it.
    ///
    /// # Cancel safety
    ///
    /// A rule has fired, and nothing else has happened.
    pub(super) async fn of(
        api: &Api,
        connection: &Connection,
        request: &RequestFacts,
    ) -> Result<Self, Response> {
        let verdict = api.faults.on_request(request);
        let disposition = verdict.carry_out(connection).await?;
        // Before the bound of the read: an action such as a rollback moves the revisions that the bound is about.
        if let Some(action) = disposition.action {
            perform(&api.backend, action);
        }
        let bound = disposition.read_bound;
        Ok(Self {
            sees: bound.map(|bound| newest_revision(&api.backend.storage, bound)),
            disposition,
        })
    }

    /// Returns the time that a list of the latest state waits for the watch cache, in vain.
    pub(super) fn late_cache(&self) -> Option<Duration> {
        self.disposition.late_cache
    }

    /// Returns whether `sendInitialEvents` is ignored.
    pub(super) fn ignores_watch_list(&self) -> bool {
        self.disposition.ignores_watch_list
    }

    /// Returns the seed of the order of initial events, unless they are sorted by name.
    pub(super) fn shuffle(&self) -> Option<u64> {
        self.disposition.shuffle
    }

    /// Waits for as long as the head of the answer is delayed.
    ///
    /// # Cancel safety
    ///
    /// The request has been served, and its client receives nothing.
    pub(super) async fn delay_head(&self) {
        self.disposition.delay_head().await;
    }

    /// Returns what the client of a request by `connection` receives for `answer`.
    ///
    /// # Cancel safety
    ///
    /// The request has been served, and its client receives nothing.
    pub(super) async fn deliver(
        &self,
        connection: &Connection,
        answer: Result<Response, Status>,
    ) -> Result<Response, Status> {
        self.delay_head().await;
        // Before the error of the request: a replaced answer hides whether the write has succeeded.
        if let Some(replacement) = &self.disposition.replacement {
            return Ok(replacement.response(connection));
        }
        let mut response = answer?;
        if let Some(rewrite) = self.disposition.rewrite {
            response = shaping::rewritten(response, rewrite).await;
        }
        Ok(match self.disposition.body {
            Some(fault) => shaping::shaped(response, fault).await,
            None => response,
        })
    }
}

/// Performs an action behind the API.
fn perform(backend: &Backend, action: Action) {
    match action {
        Action::Compact => backend.storage.compact(),
        Action::Expire => backend.storage.expire(),
        Action::Disconnect => backend.watchers.disconnect(),
        Action::RollBack { revisions } => controllers::roll_back(backend, revisions),
    }
}

/// Returns the newest revision within `bound`.
fn newest_revision(storage: &Storage, bound: ReadBound) -> Revision {
    storage.view(|view| match bound {
        ReadBound::Revision(revision) => view.floored(Revision::new(revision)),
        ReadBound::Age(age) => match Instant::now().checked_sub(age) {
            Some(then) => view.revision_at(then),
            None => view.floored(Revision::default()),
        },
    })
}
