//! GET of a collection with `watch`: its changes from now on, or from a version on.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use tokio::time::Instant;

use super::{
    Api, Request, answer,
    list::reach,
    request_faults::RequestFaults,
    selection::selection,
    version::{Version, WatchFrom},
};
use crate::{
    edge::{
        request::ListOptions,
        response::{Shape, WatchEncoding},
    },
    faults::{FaultGate, RequestFacts},
    kinds::registry::Lookup,
    store::{TooOld, View},
    value::{resource::GroupResource, revision::Revision, status::Status},
    watch::{self, Gate, Initial, Queued, Selection, Watch, Watcher},
    write::Backend,
};

/// Longer than any watch lasts; added to any instant it is one.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Answers with a stream of events.
pub(super) async fn watch(
    api: &Api,
    request: &Request<'_>,
    facts: RequestFacts,
    options: &ListOptions,
    faults: &RequestFaults,
) -> Result<Response, Status> {
    let encoding = answer::encoding(api, request, Shape::Watch)?;
    let selection = Arc::new(selection(&request.target, options)?);
    let version = Version::parse(&options.resource_version)
        .map_err(|error| Status::unclassified(error.to_string()))?;
    let from = if faults.ignores_watch_list() {
        WatchFrom::without_watch_list(version)
    } else {
        WatchFrom::new(version, options.send_initial_events)
    };
    let backend = &api.backend;
    let mut frames = WatchEncoding::new(encoding.clone());
    if let Some(custom) = request.target.rules().as_custom() {
        frames = frames.converting(custom, &backend.webhooks, &backend.entropy);
    }
    let query = WatchQuery {
        resource: request.target.group_resource(),
        selection,
        from,
        bookmarks: options.allow_bookmarks,
        timeout: options.timeout,
        sees: faults.sees,
        shuffle: faults.shuffle(),
        served: facts.clone(),
    };
    let gate = FaultGate::new(
        api.faults.clone(),
        facts,
        request.connection.clone(),
        frames,
    );
    // Errors that depend on the version are sent inside the stream.
    let body = match query.open(api, gate).await {
        Ok(body) => body,
        Err(status) => Body::from(encoding.error_frame(&status)),
    };
    Ok(answer::delivery(request, &encoding).stream(body))
}

/// The objects and versions that a watch is to show.
#[derive(Debug)]
struct WatchQuery {
    resource: GroupResource,
    selection: Arc<Selection>,
    from: WatchFrom,
    bookmarks: bool,
    /// Its duration, if its client has given one.
    timeout: Option<Duration>,
    /// The revision up to which its beginning sees, if that is not the present one.
    sees: Option<Revision>,
    /// The seed of the order of its initial events, if it is not that of their names.
    shuffle: Option<u64>,
    /// The resource as the request named it.
    served: RequestFacts,
}

// === impl WatchQuery ===

impl WatchQuery {
    /// Opens the watch: returns the body of the answer, filled by a task of the server. An error is sent as an event in
    /// the body of an answer that is 200.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    async fn open(self, api: &Api, gate: impl Gate) -> Result<Body, Status> {
        if let WatchFrom::State {
            not_older_than: Some(asked),
            ..
        } = self.from
        {
            reach(&api.backend.storage, asked, self.sees).await?;
        }
        let backend = &api.backend;
        // The replay and the queue meet at one revision, since nothing is written meanwhile.
        let (watcher, watch) = backend.storage.view(|view| self.begin(backend, view))?;
        let store = Arc::clone(&backend.storage);
        Ok(watch::open(store, &api.tasks, watcher, watch, gate))
    }

    fn begin(self, backend: &Backend, view: View<'_>) -> Result<(Watcher, Watch), Status> {
        // Its definition may have been deleted since the request came; the watch would never end then.
        let asked = &self.served;
        let found = backend
            .registry()
            .lookup(&asked.group, &asked.version, &asked.resource);
        if !matches!(found, Lookup::Found(_)) {
            return Err(Status::unknown_resource());
        }
        let mut initial = None;
        let mut replay = Vec::new();
        let (snapshot, mut start) = view.snapshot_seen(&self.resource, self.sees);
        if start < view.revision() {
            // What it does not see at its beginning comes behind it.
            let range = &self.selection.range;
            let unseen = view.changes_since(&self.resource, range, start);
            replay = Queued::all(unseen.unwrap_or_default(), &self.selection);
        }
        match self.from {
            WatchFrom::State { marks_end, .. } => {
                initial = Some(Initial {
                    snapshot,
                    revision: start,
                    marks_end: marks_end && self.bookmarks,
                    shuffle: self.shuffle,
                });
            }
            WatchFrom::Now => {}
            WatchFrom::After(asked) => {
                let changes = view
                    .changes_since(&self.resource, &self.selection.range, asked)
                    .map_err(|TooOld { oldest }| {
                        Status::watch_expired(asked.get(), oldest.get())
                    })?;
                replay = Queued::all(changes, &self.selection);
                start = asked;
            }
        }
        let timeout = self
            .timeout
            .unwrap_or_else(|| backend.entropy.watch_timeout())
            .min(LONGEST);
        let (watcher, receiver) = backend
            .watchers
            .register(&self.resource, Arc::clone(&self.selection));
        let watch = Watch {
            selection: self.selection,
            initial,
            replay,
            receiver,
            start,
            bookmarks: self.bookmarks,
            deadline: Instant::now() + timeout,
        };
        Ok((watcher, watch))
    }
}
