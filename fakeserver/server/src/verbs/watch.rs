//! GET of a collection with `watch`: its changes from now on, or from a version on.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use fakeserver_kinds::registry::Lookup;
use fakeserver_value::status::Status;
use tokio::time::Instant;

use super::{
    Api, Request, answer,
    facts::client,
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
    store::{TooOld, View},
    watch::{self, Initial, Queued, Selection, Watch, Watcher},
};

/// Longer than any watch lasts; added to any instant it is one.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Answers with a stream of events.
///
/// # Cancel safety
///
/// Nothing is lost if the future is dropped.
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
    let connection = request.connection.clone();
    let gate = FaultGate::new(api.faults.clone(), facts, connection, frames);
    let reached = match from {
        WatchFrom::State {
            not_older_than: Some(asked),
            ..
        } => reach(&backend.storage, asked, faults.sees).await,
        _ => Ok(()),
    };
    // The replay and the queue meet at one revision, since nothing is written meanwhile.
    let begun = reached.and_then(|()| {
        let begin = |view: View<'_>| begin(api, request, options, (from, selection), faults, view);
        backend.storage.view(begin)
    });
    // Errors that depend on the version are sent inside the stream.
    let body = match begun {
        Ok((watcher, watch)) => {
            let store = Arc::clone(&backend.storage);
            watch::open(store, &api.tasks, watcher, watch, gate)
        }
        Err(status) => Body::from(encoding.error_frame(&status)),
    };
    Ok(answer::delivery(request, &encoding).stream(body))
}

/// Registers a watcher, and returns it with the watch that it begins: its initial state and its replay.
fn begin(
    api: &Api,
    request: &Request<'_>,
    options: &ListOptions,
    (from, selection): (WatchFrom, Arc<Selection>),
    faults: &RequestFaults,
    view: View<'_>,
) -> Result<(Watcher, Watch), Status> {
    let (backend, target) = (&api.backend, &request.target);
    // Its definition may have been deleted since the request came; the watch would never end then.
    let asked = &target.path;
    let found = backend
        .registry()
        .lookup(&asked.group, &asked.version, &asked.resource);
    if !matches!(found, Lookup::Found(_)) {
        return Err(Status::unknown_resource());
    }
    let resource = target.group_resource();
    let mut initial = None;
    let mut replay = Vec::new();
    let (snapshot, mut start) = view.snapshot_seen(&resource, faults.sees);
    if start < view.revision() {
        // What it does not see at its beginning comes behind it.
        let unseen = view.changes_since(&resource, &selection.range, start);
        replay = Queued::all(unseen.unwrap_or_default(), &selection);
    }
    match from {
        WatchFrom::State { marks_end, .. } => {
            initial = Some(Initial {
                snapshot,
                revision: start,
                marks_end: marks_end && options.allow_bookmarks,
                shuffle: faults.shuffle(),
            });
        }
        WatchFrom::Now => {}
        WatchFrom::After(asked) => {
            let changes = view
                .changes_since(&resource, &selection.range, asked)
                .map_err(|TooOld { oldest }| Status::watch_expired(asked.get(), oldest.get()))?;
            replay = Queued::all(changes, &selection);
            start = asked;
        }
    }
    let timeout = options
        .timeout
        .unwrap_or_else(|| backend.entropy.watch_timeout())
        .min(LONGEST);
    let client = client(request.headers);
    let (watcher, receiver) = backend
        .watchers
        .register(&resource, Arc::clone(&selection), client);
    let watch = Watch {
        selection,
        initial,
        replay,
        receiver,
        start,
        bookmarks: options.allow_bookmarks,
        deadline: Instant::now() + timeout,
    };
    Ok((watcher, watch))
}
