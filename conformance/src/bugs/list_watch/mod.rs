//! Seeded bugs between the server and the reflector: wrong requests and wrong answers.

mod memory;
mod stream;

use std::sync::Arc;

use informer::list_watch::{
    HeldObjects, ListPage, ListRequest, ListWatch, ListWatchError, Status, WatchRequest,
};

use self::memory::{ByKey, Memory};
pub use self::stream::BuggyStream;
use super::Bug;

/// The bugs of this seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListWatchBug {
    AddedIgnored,
    ModifiedIgnored,
    DeletedIgnored,
    BookmarksIgnored,
    InitialStateEndsEarly,
    ExpiredEventSkipped,
    UidOfTheFirst,
    VersionOfEventBefore,
    VersionOfLastItem,
    FirstPageOnly,
    LastPageLost,
    StagingKept,
    KnownByKey,
    WatchFromZero,
    WatchFromNow,
    WatchFromList,
    WatchAfterNext,
    ExpiredWatchFromZero,
    ExpiredStatusRetried,
    ThrottledRelists,
    RetryAfterIgnored,
    RetriedAtOnce,
    StreamsKeptOpen,
}

pub(super) const BUGS: &[(ListWatchBug, &str, &str)] = &[
    (
        ListWatchBug::AddedIgnored,
        "added-ignored",
        "ADDED events are ignored once the initial state is there",
    ),
    (
        ListWatchBug::ModifiedIgnored,
        "modified-ignored",
        "MODIFIED events are ignored",
    ),
    (
        ListWatchBug::DeletedIgnored,
        "deleted-ignored",
        "DELETED events are ignored",
    ),
    (
        ListWatchBug::BookmarksIgnored,
        "bookmarks-ignored",
        "bookmarks are ignored, so that a watch is resumed from the last change",
    ),
    (
        ListWatchBug::InitialStateEndsEarly,
        "initial-state-ends-early",
        "the first object of a streaming list counts as its end",
    ),
    (
        ListWatchBug::ExpiredEventSkipped,
        "expired-event-skipped",
        "an ERROR event 410 is skipped, and the watch resumed from the same version",
    ),
    (
        ListWatchBug::UidOfTheFirst,
        "uid-of-the-first",
        "a recreated object counts as the one that had its name before",
    ),
    (
        ListWatchBug::VersionOfEventBefore,
        "version-of-event-before",
        "an event carries the version of the event before it",
    ),
    (
        ListWatchBug::VersionOfLastItem,
        "version-of-last-item",
        "a list's version is taken from its last item",
    ),
    (
        ListWatchBug::FirstPageOnly,
        "first-page-only",
        "the continue token of a list is ignored",
    ),
    (
        ListWatchBug::LastPageLost,
        "last-page-lost",
        "the last page of a list is ignored",
    ),
    (
        ListWatchBug::StagingKept,
        "staging-kept",
        "a list begins with the objects of the one before it",
    ),
    (
        ListWatchBug::KnownByKey,
        "known-by-key",
        "a list item counts as the known object, whatever its version",
    ),
    (
        ListWatchBug::WatchFromZero,
        "watch-from-zero",
        "a watch begins with any state of the server (version 0)",
    ),
    (
        ListWatchBug::WatchFromNow,
        "watch-from-now",
        "a watch begins at the server's present version, not at the last one seen",
    ),
    (
        ListWatchBug::WatchFromList,
        "watch-from-list",
        "a watch is resumed from the version of the last list",
    ),
    (
        ListWatchBug::WatchAfterNext,
        "watch-after-next",
        "a watch begins one version after the last one seen",
    ),
    (
        ListWatchBug::ExpiredWatchFromZero,
        "expired-watch-from-zero",
        "a watch that has expired is opened again at version 0, without a list",
    ),
    (
        ListWatchBug::ExpiredStatusRetried,
        "expired-status-retried",
        "an HTTP status 410 is retried",
    ),
    (
        ListWatchBug::ThrottledRelists,
        "throttled-relists",
        "a throttled watch (429) is followed by a list",
    ),
    (
        ListWatchBug::RetryAfterIgnored,
        "retry-after-ignored",
        "Retry-After is ignored",
    ),
    (
        ListWatchBug::RetriedAtOnce,
        "retried-at-once",
        "failures are retried within the request, without delay",
    ),
    (
        ListWatchBug::StreamsKeptOpen,
        "streams-kept-open",
        "an abandoned watch stays open",
    ),
];

/// Lists and watches, with the deviations of its bug.
#[derive(Debug)]
pub struct BuggyListWatch<K, L: ListWatch<K>> {
    inner: L,
    kind: Option<ListWatchBug>,
    memory: Memory<K, L::Stream>,
}

// === impl BuggyListWatch ===

impl<K, L> BuggyListWatch<K, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    /// Wraps `inner`.
    pub fn new(inner: L, bug: Option<Bug>) -> Self {
        let kind = match bug.map(|bug| bug.kind) {
            Some(super::BugKind::ListWatch(kind)) => Some(kind),
            _ => None,
        };
        Self {
            inner,
            kind,
            memory: Memory::new(),
        }
    }

    fn has(&self, kind: ListWatchBug) -> bool {
        self.kind == Some(kind)
    }

    fn page(&self, request: &ListRequest, mut page: ListPage<K>) -> ListPage<K> {
        let is_later = request.continue_token.is_some();
        match self.kind {
            Some(ListWatchBug::VersionOfLastItem) => {
                if let Some(Ok(last)) = page.items.last() {
                    page.resource_version = last.resource_version().clone();
                }
            }
            Some(ListWatchBug::FirstPageOnly) => page.continue_token = None,
            Some(ListWatchBug::LastPageLost) if is_later && page.continue_token.is_none() => {
                page.items.clear();
            }
            Some(ListWatchBug::StagingKept) => {
                let kept = self.memory.staged(&page, is_later);
                page.items.extend(kept.into_iter().map(Ok));
            }
            Some(ListWatchBug::WatchFromList) if !is_later => {
                self.memory.note_list(&page.resource_version);
            }
            _ => {}
        }
        page
    }

    fn failure(&self, error: ListWatchError, is_watch: bool) -> ListWatchError {
        let ListWatchError::Status(status) = error else {
            return error;
        };
        let mut status = *status;
        match self.kind {
            Some(ListWatchBug::ExpiredStatusRetried) if is_watch && status.is_expired() => {
                status = Status::new(429, "TooManyRequests", status.message);
            }
            Some(ListWatchBug::ThrottledRelists) if is_watch && status.code == 429 => {
                status = Status::new(410, "Expired", status.message);
            }
            Some(ListWatchBug::RetryAfterIgnored) => status.retry_after = None,
            _ => {}
        }
        status.into()
    }

    /// Returns the version at which a watch is opened in fact.
    async fn beginning(
        &self,
        request: &WatchRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> WatchRequest {
        let mut request = request.clone();
        if request.send_initial_events {
            return request;
        }
        match self.kind {
            Some(ListWatchBug::WatchFromZero) => request.resource_version = "0".into(),
            Some(ListWatchBug::WatchFromList) => {
                let listed = self.memory.listed();
                request.resource_version = listed.unwrap_or(request.resource_version);
            }
            Some(ListWatchBug::WatchAfterNext) => {
                if let Ok(version) = request.resource_version.as_str().parse::<u64>() {
                    request.resource_version = (version + 1).to_string().as_str().into();
                }
            }
            Some(ListWatchBug::WatchFromNow) => {
                let mut now = ListRequest::default();
                now.limit = Some(1);
                if let Ok(page) = self.inner.list(&now, held).await {
                    request.resource_version = page.resource_version;
                }
            }
            _ => {}
        }
        request
    }

    async fn open(
        &self,
        request: &WatchRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<L::Stream, ListWatchError> {
        let mut opened = self.inner.watch(request, held).await;
        while self.has(ListWatchBug::RetriedAtOnce) && opened.is_err() {
            opened = self.inner.watch(request, held).await;
        }
        match opened {
            Err(error)
                if self.has(ListWatchBug::ExpiredWatchFromZero)
                    && !request.send_initial_events
                    && error.is_expired() =>
            {
                let mut request = request.clone();
                request.resource_version = "0".into();
                self.inner.watch(&request, held).await
            }
            opened => opened,
        }
    }
}

impl<K, L> ListWatch<K> for BuggyListWatch<K, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    type Stream = BuggyStream<K, L::Stream>;

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request.
    async fn list(
        &self,
        request: &ListRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<ListPage<K>, ListWatchError> {
        let by_key: Arc<dyn HeldObjects<K>> = Arc::new(ByKey(self.memory.seen()));
        let held = if self.has(ListWatchBug::KnownByKey) {
            &by_key
        } else {
            held
        };
        let mut listed = self.inner.list(request, held).await;
        while self.has(ListWatchBug::RetriedAtOnce) && listed.is_err() {
            listed = self.inner.list(request, held).await;
        }
        match listed {
            Ok(page) => {
                let page = self.page(request, page);
                for object in page.items.iter().flatten() {
                    self.memory.note(object);
                }
                Ok(page)
            }
            Err(error) => Err(self.failure(error, false)),
        }
    }

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request, dropping the stream ends the watch.
    async fn watch(
        &self,
        request: &WatchRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<Self::Stream, ListWatchError> {
        let request = self.beginning(request, held).await;
        match self.open(&request, held).await {
            Ok(stream) => {
                let is_initial = request.send_initial_events;
                let memory = self.memory.clone();
                Ok(BuggyStream::new(stream, self.kind, memory, is_initial))
            }
            Err(error) => Err(self.failure(error, true)),
        }
    }

    fn resource(&self) -> Option<&str> {
        self.inner.resource()
    }
}
