//! A model of a server's lists and watches: exact without faults, and wrong in the way that a fault demands.

use std::{
    collections::{BTreeMap, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll},
};

use futures::Stream;
use informer::{
    Metadata, Object, ObjectKey, ResourceVersion,
    list_watch::{
        HeldObjects, ListPage, ListRequest, ListWatch, ListWatchError, Status, VersionMatch,
        WatchEvent, WatchRequest,
    },
};
use tokio::sync::mpsc;

type Item = Result<WatchEvent<()>, ListWatchError>;

/// A fault in the answer to a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListFault {
    /// A status with this code.
    Fails(u16),
    Hangs,
    /// The state of this number of revisions ago: another server answers, which lags behind and names its version.
    Lags(u64),
    /// The same, but with the present version.
    LagsInSilence(u64),
}

/// A fault of a watch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WatchFault {
    /// A status with this code.
    Fails(u16),
    Refuses,
    Hangs,
    /// After this number of events ...
    EndsAfter(usize),
    BreaksAfter(usize),
    SilentAfter(usize),
    GarbageAfter(usize),
    ExpiresAfter(usize),
    /// As if streaming lists were unknown.
    IgnoresStreaming,
    RejectsStreaming,
}

/// A server of one resource.
#[derive(Clone, Default)]
pub(crate) struct ModelServer(Arc<Mutex<Model>>);

#[derive(Default)]
struct Model {
    revision: u64,
    /// The changes since `compacted`, oldest first.
    history: Vec<Change>,
    compacted: u64,
    /// The state at `compacted`.
    base: BTreeMap<u8, u64>,
    watchers: Vec<mpsc::UnboundedSender<Change>>,
    list_faults: VecDeque<Option<ListFault>>,
    watch_faults: VecDeque<Option<WatchFault>>,
    request_count: usize,
}

#[derive(Clone, Copy)]
struct Change {
    name: u8,
    revision: u64,
    kind: ChangeKind,
}

#[derive(Clone, Copy)]
enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// The events of a watch.
pub(crate) struct ModelStream {
    ready: VecDeque<Item>,
    live: mpsc::UnboundedReceiver<Change>,
    fault: Option<WatchFault>,
    sent_count: usize,
    is_over: bool,
}

// === impl ModelServer ===

impl ModelServer {
    pub(crate) fn with_faults(
        list_faults: Vec<Option<ListFault>>,
        watch_faults: Vec<Option<WatchFault>>,
    ) -> Self {
        let server = Self::default();
        server.model().list_faults = list_faults.into();
        server.model().watch_faults = watch_faults.into();
        server
    }

    /// Makes or changes the object.
    pub(crate) fn put(&self, name: u8) {
        let mut model = self.model();
        let is_new = !model.state_at(u64::MAX).contains_key(&name);
        let kind = if is_new {
            ChangeKind::Added
        } else {
            ChangeKind::Modified
        };
        model.change(name, kind);
    }

    /// Deletes the object if it is there.
    pub(crate) fn delete(&self, name: u8) {
        let mut model = self.model();
        if model.state_at(u64::MAX).contains_key(&name) {
            model.change(name, ChangeKind::Deleted);
        }
    }

    /// Forgets the history.
    pub(crate) fn compact(&self) {
        let mut model = self.model();
        model.base = model.state_at(u64::MAX);
        model.compacted = model.revision;
        model.history.clear();
    }

    /// From now on nothing is wrong.
    pub(crate) fn heal(&self) {
        let mut model = self.model();
        model.list_faults.clear();
        model.watch_faults.clear();
    }

    /// The objects in short: `n/1@3 n/2@5`.
    pub(crate) fn objects(&self) -> String {
        let state = self.model().state_at(u64::MAX);
        let objects = state.iter().map(|(name, rv)| format!("n/{name}@{rv}"));
        objects.collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn request_count(&self) -> usize {
        self.model().request_count
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        self.0.lock().unwrap()
    }
}

impl ListWatch<()> for ModelServer {
    type Stream = ModelStream;

    async fn list(
        &self,
        request: &ListRequest,
        _held: &Arc<dyn HeldObjects<()>>,
    ) -> Result<ListPage<()>, ListWatchError> {
        let fault = {
            let mut model = self.model();
            model.request_count += 1;
            model.list_faults.pop_front().flatten()
        };
        match fault {
            None => self.model().list(request, 0, true),
            Some(ListFault::Lags(by)) => self.model().list(request, by, true),
            Some(ListFault::LagsInSilence(by)) => self.model().list(request, by, false),
            Some(ListFault::Fails(code)) => Err(status(code)),
            Some(ListFault::Hangs) => std::future::pending().await,
        }
    }

    async fn watch(
        &self,
        request: &WatchRequest,
        _held: &Arc<dyn HeldObjects<()>>,
    ) -> Result<ModelStream, ListWatchError> {
        let fault = {
            let mut model = self.model();
            model.request_count += 1;
            model.watch_faults.pop_front().flatten()
        };
        match fault {
            Some(WatchFault::Fails(code)) => Err(status(code)),
            Some(WatchFault::Refuses) => Err(ListWatchError::Refused("connection refused".into())),
            Some(WatchFault::Hangs) => std::future::pending().await,
            Some(WatchFault::RejectsStreaming) if request.send_initial_events => Err(status(422)),
            fault => Ok(self.model().watch(request, fault)),
        }
    }
}

fn status(code: u16) -> ListWatchError {
    Status::new(code, "", "told by the test").into()
}

// === impl Model ===

impl Model {
    fn change(&mut self, name: u8, kind: ChangeKind) {
        // Other resources make gaps.
        self.revision += 1 + u64::from(name % 3);
        let change = Change {
            name,
            revision: self.revision,
            kind,
        };
        self.history.push(change);
        self.watchers.retain(|watcher| watcher.send(change).is_ok());
    }

    /// Names and versions at a revision that is not compacted.
    fn state_at(&self, revision: u64) -> BTreeMap<u8, u64> {
        let mut state = self.base.clone();
        for change in self
            .history
            .iter()
            .take_while(|change| change.revision <= revision)
        {
            match change.kind {
                ChangeKind::Added | ChangeKind::Modified => {
                    state.insert(change.name, change.revision);
                }
                ChangeKind::Deleted => {
                    state.remove(&change.name);
                }
            }
        }
        state
    }

    fn list(
        &self,
        request: &ListRequest,
        lag: u64,
        says_so: bool,
    ) -> Result<ListPage<()>, ListWatchError> {
        let (revision, start) = match &request.continue_token {
            Some(token) => {
                assert!(request.resource_version.is_unknown() && request.version_match.is_none());
                let (revision, start) = token.split_once('/').unwrap();
                (revision.parse().unwrap(), start.parse().unwrap())
            }
            None => (self.revision_for(request, lag, says_so)?, 0),
        };
        if revision < self.compacted {
            return Err(status(410));
        }
        let state = self.state_at(revision);
        // Version 0 is served whole, with any limit.
        let limit = match request.limit {
            Some(limit) if request.resource_version.as_str() != "0" => limit as usize,
            _ => usize::MAX,
        };
        let mut rest = state.range(start..);
        let items = rest
            .by_ref()
            .take(limit)
            .map(|(name, rv)| Ok(object(*name, *rv)))
            .collect();
        Ok(ListPage {
            items,
            resource_version: ResourceVersion::new(revision.to_string()),
            continue_token: rest.next().map(|(name, _)| format!("{revision}/{name}")),
        })
    }

    fn revision_for(
        &self,
        request: &ListRequest,
        lag: u64,
        says_so: bool,
    ) -> Result<u64, ListWatchError> {
        let cached = self.revision.saturating_sub(lag).max(self.compacted);
        match request.resource_version.as_str() {
            "" => Ok(self.revision),
            "0" => Ok(cached),
            version => {
                let requested: u64 = version.parse().unwrap();
                let is_exact = request.limit.is_some() && request.version_match.is_none()
                    || request.version_match == Some(VersionMatch::Exact);
                if is_exact {
                    return Ok(requested);
                }
                if cached < requested && says_so {
                    let message = "Too large resource version";
                    return Err(Status::new(504, "Timeout", message).into());
                }
                Ok(cached)
            }
        }
    }

    fn watch(&mut self, request: &WatchRequest, fault: Option<WatchFault>) -> ModelStream {
        let (tx, live) = mpsc::unbounded_channel();
        let mut ready = VecDeque::new();
        let streams = request.send_initial_events;
        match request.resource_version.as_str() {
            version if streams || matches!(version, "" | "0") => {
                for (name, rv) in self.state_at(u64::MAX) {
                    ready.push_back(Ok(WatchEvent::Added(Ok(object(name, rv)))));
                }
                if streams && !matches!(fault, Some(WatchFault::IgnoresStreaming)) {
                    ready.push_back(Ok(WatchEvent::Bookmark {
                        resource_version: ResourceVersion::new(self.revision.to_string()),
                        is_end_of_initial_events: true,
                    }));
                }
            }
            version => {
                let after: u64 = version.parse().unwrap();
                if after < self.compacted {
                    ready.push_back(Ok(WatchEvent::Error(Status::new(410, "Expired", ""))));
                } else {
                    let later = self.history.iter().filter(|change| change.revision > after);
                    ready.extend(later.map(|change| Ok(event(*change))));
                }
            }
        }
        self.watchers.push(tx);
        ModelStream {
            ready,
            live,
            fault,
            sent_count: 0,
            is_over: false,
        }
    }
}

fn object(name: u8, revision: u64) -> Object<()> {
    let metadata = Metadata {
        key: ObjectKey::new("n", name.to_string()),
        uid: name.to_string().into(),
        resource_version: ResourceVersion::new(revision.to_string()),
        labels: informer::Labels::default(),
        owners: Arc::new([]),
        is_terminating: false,
    };
    Object::with_metadata(metadata, ())
}

fn event(change: Change) -> WatchEvent<()> {
    let object = Ok(object(change.name, change.revision));
    match change.kind {
        ChangeKind::Added => WatchEvent::Added(object),
        ChangeKind::Modified => WatchEvent::Modified(object),
        ChangeKind::Deleted => WatchEvent::Deleted(object),
    }
}

// === impl ModelStream ===

impl ModelStream {
    /// Returns the fault's effect on the stream now, if its time has come.
    fn strike(&mut self) -> Option<Poll<Option<Item>>> {
        let fault = self.fault?;
        let (WatchFault::EndsAfter(count)
        | WatchFault::BreaksAfter(count)
        | WatchFault::SilentAfter(count)
        | WatchFault::GarbageAfter(count)
        | WatchFault::ExpiresAfter(count)) = fault
        else {
            return None;
        };
        if self.sent_count < count {
            return None;
        }
        let item = match fault {
            WatchFault::SilentAfter(_) => return Some(Poll::Pending),
            WatchFault::BreaksAfter(_) => Err(ListWatchError::Transport("reset".into())),
            WatchFault::GarbageAfter(_) => Err(ListWatchError::Protocol {
                what: "garbage".into(),
                source: None,
            }),
            WatchFault::ExpiresAfter(_) => Ok(WatchEvent::Error(Status::new(
                410,
                "Expired",
                "told by the test",
            ))),
            _ => {
                self.is_over = true;
                return Some(Poll::Ready(None));
            }
        };
        self.is_over = true;
        Some(Poll::Ready(Some(item)))
    }
}

impl Stream for ModelStream {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Some(struck) = self.strike() {
            return struck;
        }
        let item = match self.ready.pop_front() {
            Some(item) => Poll::Ready(Some(item)),
            None => self
                .live
                .poll_recv(cx)
                .map(|change| change.map(event).map(Ok)),
        };
        self.sent_count += usize::from(item.is_ready());
        item
    }
}
