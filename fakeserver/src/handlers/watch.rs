//! GET of a collection with `watch`: what happens to it from now on, or from a version on.

use std::{sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use tokio::time::Instant;

use super::{
    Call,
    course::Course,
    list::reach,
    version::{Version, WatchFrom},
};
use crate::{
    custom_resources::CustomType,
    faults::{Connection, RequestFacts},
    registry::Lookup,
    request::ListOptions,
    response::{Encoding, Shape},
    revision::Revision,
    state::{Core, Server},
    status::Status,
    storage::{GroupResource, TooOld, View},
    watch_cache::{self, Initial, Queued, Selection, Watch, Watcher},
};

/// Longer than any watch lasts; added to any instant it is one.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Answers with a stream of events.
pub(super) async fn watch(
    call: &Call<'_>,
    request: RequestFacts,
    options: &ListOptions,
    course: &Course,
) -> Result<Response, Status> {
    let encoding = call.encoding(Shape::Watch)?;
    let selection = Arc::new(call.selection(options)?);
    let version = Version::parse(&options.resource_version)
        .map_err(|error| Status::unclassified(error.to_string()))?;
    let from = if course.ignores_watch_list() {
        WatchFrom::without_watch_list(version)
    } else {
        WatchFrom::new(version, options.send_initial_events)
    };
    let query = WatchQuery {
        request,
        connection: call.connection.clone(),
        resource: call.group_resource(),
        selection,
        encoding: encoding.clone(),
        from,
        bookmarks: options.allow_bookmarks,
        timeout: options.timeout,
        custom: call.resource.custom.clone(),
        sees: course.sees,
        shuffle: course.shuffle(),
    };
    // What depends on the version is told inside the stream.
    let body = match query.open(call.server).await {
        Ok(body) => body,
        Err(status) => Body::from(encoding.error_frame(&status)),
    };
    Ok(call.delivery(&encoding).stream(body))
}

/// What a watch is to show.
#[derive(Debug)]
pub(crate) struct WatchQuery {
    pub(crate) request: RequestFacts,
    pub(crate) connection: Connection,
    pub(crate) resource: GroupResource,
    pub(crate) selection: Arc<Selection>,
    pub(crate) encoding: Encoding,
    pub(crate) from: WatchFrom,
    pub(crate) bookmarks: bool,
    /// How long it lasts, if its client has said so.
    pub(crate) timeout: Option<Duration>,
    /// The type of the objects, if it is a custom one.
    pub(crate) custom: Option<Arc<CustomType>>,
    /// The revision up to which its beginning sees, if that is not the present one.
    pub(crate) sees: Option<Revision>,
    /// From which seed the order of its initial events follows, if it is not that of their names.
    pub(crate) shuffle: Option<u64>,
}

// === impl WatchQuery ===

impl WatchQuery {
    /// Opens the watch: the body of the answer, filled by a task of the server. What is wrong is to be told
    /// by an event in the body of an answer that is 200.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub(crate) async fn open(self, server: &Server) -> Result<Body, Status> {
        if let WatchFrom::State {
            not_older_than: Some(asked),
            ..
        } = self.from
        {
            reach(&server.core, asked, self.sees).await?;
        }
        let core = Arc::clone(&server.core);
        // What it replays and what is queued for it meet at one revision, since nothing is written meanwhile.
        let (watcher, watch) = server.core.storage.view(|view| self.begin(&core, view))?;
        Ok(watch_cache::open(core, &server.tasks, watcher, watch))
    }

    fn begin(self, core: &Core, view: View<'_>) -> Result<(Watcher, Watch), Status> {
        // Its definition may have gone since the request came; nobody would end the watch then.
        let asked = &self.request;
        let found = core
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
            .unwrap_or_else(|| core.entropy.watch_timeout())
            .min(LONGEST);
        let (watcher, receiver) = core
            .watchers
            .register(&self.resource, Arc::clone(&self.selection));
        let watch = Watch {
            request: self.request,
            connection: self.connection,
            encoding: self.encoding,
            selection: self.selection,
            initial,
            replay,
            receiver,
            start,
            bookmarks: self.bookmarks,
            deadline: Instant::now() + timeout,
            custom: self.custom,
        };
        Ok((watcher, watch))
    }
}
