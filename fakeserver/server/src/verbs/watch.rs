//! GET of a collection with `watch`: its changes from now on, or from a version on.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use fakeserver_kinds::registry::Lookup;
use fakeserver_value::status::Status;
use http::{HeaderMap, header};
use tokio::time::Instant;

use super::{
    Api, Request, answer,
    facts::client,
    list::{catch_up, reach},
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
    store::{RevisionTooOld, View},
    watch::{self, Initial, QueuedChange, Selection, Watch, Watcher},
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
    let features = request.features;
    let from = if faults.ignores_watch_list() || !features.has_watch_lists {
        WatchFrom::without_watch_list(version)
    } else {
        WatchFrom::new(version, options.send_initial_events)
    };
    let backend = &api.backend;
    let mut frames = WatchEncoding::new(encoding.clone());
    frames = match request.target.rules().as_custom() {
        Some(custom) => frames.converting(custom, &backend.webhooks, &backend.entropy),
        None => frames.decoding(&backend.writers),
    };
    let connection = request.connection.clone();
    let gate = FaultGate::new(api.faults.clone(), facts, connection, frames);
    // Before the lock: waiting for a revision must not stop the writes that would reach it.
    let reached = match from {
        WatchFrom::State {
            not_older_than: Some(revision),
            ..
        } => reach(&backend.storage, revision, faults.sees).await,
        _ if version == Version::Latest => catch_up(&backend.storage).await,
        _ => Ok(()),
    };
    // Under the store's lock, the replay ends at the revision at which the queue begins.
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
    let is_streaming_list = options.allow_bookmarks
        && matches!(
            from,
            WatchFrom::State {
                marks_end: true,
                ..
            }
        );
    // Messages of a WebSocket are not compressed.
    let may_compress =
        is_streaming_list && features.compresses_watch_lists && !is_web_socket(request.headers);
    Ok(answer::delivery(request, &encoding).stream(body, may_compress))
}

fn is_web_socket(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE);
    upgrade.is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(b"websocket"))
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
    let path = &target.path;
    // The registry only changes under the store's lock: what is found here holds when the watcher is registered below.
    let found = api
        .registry_of(request.peer)
        .lookup(&path.group, &path.version, &path.resource);
    if !matches!(found, Lookup::Found(_)) {
        return Err(Status::unknown_resource());
    }
    let resource = target.group_resource();
    let mut initial = None;
    let mut replay = Vec::new();
    // With a fault that shows the past, the watch begins there, as lists do, and then replays the hidden changes.
    let (snapshot, mut start) = view.snapshot_seen(&resource, faults.sees);
    if start < view.revision() {
        // Changes after the revision that the fault lets the client see are replayed behind the initial state.
        let unseen = view.changes_since(&resource, &selection.range, start);
        replay = QueuedChange::all(unseen.unwrap_or_default(), &selection);
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
        WatchFrom::After(revision) => {
            let changes = view
                .changes_since(&resource, &selection.range, revision)
                .map_err(|RevisionTooOld { oldest }| {
                    Status::watch_expired(revision.get(), oldest.get())
                })?;
            replay = QueuedChange::all(changes, &selection);
            start = revision;
        }
    }
    // Drawn only for watches that begin: a refused one must not move the generator of a seeded run.
    let timeout = options
        .timeout
        .unwrap_or_else(|| backend.entropy.watch_timeout())
        .min(LONGEST);
    let client = client(request.headers);
    // Last, still in the view: the queue receives every change after those in the replay, and none of them twice. An
    // error above leaves no watcher behind.
    let (watcher, receiver) =
        backend
            .watchers
            .register(&target.resource, Arc::clone(&selection), client);
    let watch = Watch {
        selection,
        initial,
        replay,
        receiver,
        start,
        bookmarks: options.allow_bookmarks,
        deadline: Instant::now() + timeout,
        durability: backend.durability().cloned(),
    };
    Ok((watcher, watch))
}
