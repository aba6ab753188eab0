//! Between the server and the reflector: what is asked and answered, wrongly.

mod memory;
mod stream;

use std::sync::Arc;

use informer::{
    ListWatch,
    known::Known,
    list_watch::{ListPage, ListRequest, ListWatchError, Status, WatchRequest},
};

use self::memory::{ByKey, Memory};
pub use self::stream::BuggyStream;
use super::Bug;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
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
    ExpiredWatchFromZero,
    ExpiredStatusRetried,
    ThrottledRelists,
    RetryAfterIgnored,
    RetriedAtOnce,
    StreamsKeptOpen,
}

pub(super) const MISTAKES: &[(Mistake, &str, &str)] = &[
    (
        Mistake::AddedIgnored,
        "added-ignored",
        "ADDED events are ignored once the initial state is there",
    ),
    (
        Mistake::ModifiedIgnored,
        "modified-ignored",
        "MODIFIED events are ignored",
    ),
    (
        Mistake::DeletedIgnored,
        "deleted-ignored",
        "DELETED events are ignored",
    ),
    (
        Mistake::BookmarksIgnored,
        "bookmarks-ignored",
        "bookmarks are ignored, so that a watch is resumed from the last change",
    ),
    (
        Mistake::InitialStateEndsEarly,
        "initial-state-ends-early",
        "the first object of a streaming list is taken for the end of it",
    ),
    (
        Mistake::ExpiredEventSkipped,
        "expired-event-skipped",
        "an ERROR event 410 is skipped, and the watch resumed from the same version",
    ),
    (
        Mistake::UidOfTheFirst,
        "uid-of-the-first",
        "an object that was made anew is taken for the one that had its name before",
    ),
    (
        Mistake::VersionOfEventBefore,
        "version-of-event-before",
        "an event carries the version of the event before it",
    ),
    (
        Mistake::VersionOfLastItem,
        "version-of-last-item",
        "a list's version is taken from its last item",
    ),
    (
        Mistake::FirstPageOnly,
        "first-page-only",
        "the continue token of a list is overlooked",
    ),
    (
        Mistake::LastPageLost,
        "last-page-lost",
        "the page that has no continue token is taken for empty",
    ),
    (
        Mistake::StagingKept,
        "staging-kept",
        "a list begins with what the one before it brought",
    ),
    (
        Mistake::KnownByKey,
        "known-by-key",
        "a list item is taken for the object at hand, whatever its version",
    ),
    (
        Mistake::WatchFromZero,
        "watch-from-zero",
        "a watch begins with whatever state the server has at hand (version 0)",
    ),
    (
        Mistake::WatchFromNow,
        "watch-from-now",
        "a watch begins at the server's present version, not at the last one seen",
    ),
    (
        Mistake::WatchFromList,
        "watch-from-list",
        "a watch is resumed from the version of the last list",
    ),
    (
        Mistake::ExpiredWatchFromZero,
        "expired-watch-from-zero",
        "a watch that has expired is opened again at version 0, without a list",
    ),
    (
        Mistake::ExpiredStatusRetried,
        "expired-status-retried",
        "an HTTP status 410 is taken for one that passes",
    ),
    (
        Mistake::ThrottledRelists,
        "throttled-relists",
        "a watch that is answered with 429 is followed by a list",
    ),
    (
        Mistake::RetryAfterIgnored,
        "retry-after-ignored",
        "the time that the server asks to wait is overlooked",
    ),
    (
        Mistake::RetriedAtOnce,
        "retried-at-once",
        "what failed is tried again within the request, without delay",
    ),
    (
        Mistake::StreamsKeptOpen,
        "streams-kept-open",
        "a watch that is given up stays open",
    ),
];

/// Lists and watches as it is asked to, but for what its bug does to questions and answers.
#[derive(Debug)]
pub struct BuggyListWatch<K, L: ListWatch<K>> {
    inner: L,
    mistake: Option<Mistake>,
    memory: Memory<K, L::Stream>,
}

// === impl BuggyListWatch ===

impl<K, L> BuggyListWatch<K, L>
where
    K: Clone + Send + Sync + 'static,
    L: ListWatch<K>,
{
    /// Asks `inner`.
    pub fn new(inner: L, bug: Option<Bug>) -> Self {
        let mistake = match bug.map(|bug| bug.mistake) {
            Some(super::Mistake::ListWatch(mistake)) => Some(mistake),
            _ => None,
        };
        Self {
            inner,
            mistake,
            memory: Memory::new(),
        }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    fn page(&self, request: &ListRequest, mut page: ListPage<K>) -> ListPage<K> {
        let is_later = request.continue_token.is_some();
        match self.mistake {
            Some(Mistake::VersionOfLastItem) => {
                if let Some(Ok(last)) = page.items.last() {
                    page.resource_version = last.resource_version().clone();
                }
            }
            Some(Mistake::FirstPageOnly) => page.continue_token = None,
            Some(Mistake::LastPageLost) if is_later && page.continue_token.is_none() => {
                page.items.clear();
            }
            Some(Mistake::StagingKept) => {
                let kept = self.memory.staged(&page, is_later);
                page.items.extend(kept.into_iter().map(Ok));
            }
            Some(Mistake::WatchFromList) if !is_later => {
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
        match self.mistake {
            Some(Mistake::ExpiredStatusRetried) if is_watch && status.is_expired() => {
                status = Status::new(429, "TooManyRequests", status.message);
            }
            Some(Mistake::ThrottledRelists) if is_watch && status.code == 429 => {
                status = Status::new(410, "Expired", status.message);
            }
            Some(Mistake::RetryAfterIgnored) => status.retry_after = None,
            _ => {}
        }
        status.into()
    }

    /// From where a watch is really opened.
    async fn beginning(&self, request: &WatchRequest, known: &Arc<dyn Known<K>>) -> WatchRequest {
        let mut request = request.clone();
        if request.send_initial_events {
            return request;
        }
        match self.mistake {
            Some(Mistake::WatchFromZero) => request.resource_version = "0".into(),
            Some(Mistake::WatchFromList) => {
                let listed = self.memory.listed();
                request.resource_version = listed.unwrap_or(request.resource_version);
            }
            Some(Mistake::WatchFromNow) => {
                let mut now = ListRequest::default();
                now.limit = Some(1);
                if let Ok(page) = self.inner.list(&now, known).await {
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
        known: &Arc<dyn Known<K>>,
    ) -> Result<L::Stream, ListWatchError> {
        let mut opened = self.inner.watch(request, known).await;
        while self.has(Mistake::RetriedAtOnce) && opened.is_err() {
            opened = self.inner.watch(request, known).await;
        }
        match opened {
            Err(error)
                if self.has(Mistake::ExpiredWatchFromZero)
                    && !request.send_initial_events
                    && error.is_expired() =>
            {
                let mut request = request.clone();
                request.resource_version = "0".into();
                self.inner.watch(&request, known).await
            }
            opened => opened,
        }
    }
}

impl<K, L> ListWatch<K> for BuggyListWatch<K, L>
where
    K: Clone + Send + Sync + 'static,
    L: ListWatch<K>,
{
    type Stream = BuggyStream<K, L::Stream>;

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request.
    async fn list(
        &self,
        request: &ListRequest,
        known: &Arc<dyn Known<K>>,
    ) -> Result<ListPage<K>, ListWatchError> {
        let by_key: Arc<dyn Known<K>> = Arc::new(ByKey(self.memory.seen()));
        let known = if self.has(Mistake::KnownByKey) {
            &by_key
        } else {
            known
        };
        let mut listed = self.inner.list(request, known).await;
        while self.has(Mistake::RetriedAtOnce) && listed.is_err() {
            listed = self.inner.list(request, known).await;
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
        known: &Arc<dyn Known<K>>,
    ) -> Result<Self::Stream, ListWatchError> {
        let request = self.beginning(request, known).await;
        match self.open(&request, known).await {
            Ok(stream) => {
                let is_initial = request.send_initial_events;
                let memory = self.memory.clone();
                Ok(BuggyStream::new(stream, self.mistake, memory, is_initial))
            }
            Err(error) => Err(self.failure(error, true)),
        }
    }

    fn resource(&self) -> Option<&str> {
        self.inner.resource()
    }
}
