//! One logical watch across many connections.

use std::fmt;

use futures::Stream;

use super::{RetryWatcherError, WatchOptions};
use crate::{
    list_watch::{ListWatch, ListWatchError, WatchEvent},
    object::ResourceVersion,
    reflector::{Driver, EventKind, FailureCause, Mode, Progress, Reflector},
    store::{Delta, ReflectorStore, StoreClosed},
};

/// Every change of a selection after a version, across broken and ended connections.
///
/// A retry watcher does not list: the caller gives the version, from the answer to a list or to a write.
///
/// # Ordering
///
/// Changes come in the order of their versions, each once. A change that repeats after a reconnect, or that is older
/// than one already returned, is left out.
///
/// # Examples
///
/// ```
/// use informer::{Scope, http::HttpListWatch, watch::RetryWatcher};
/// use k8s_openapi::api::core::v1::Namespace;
///
/// # async fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let mut changes = RetryWatcher::new(HttpListWatch::<Namespace>::new(client, Scope::All), "7".into())?;
/// while let Some(change) = changes.next().await {
///     println!("{:?}", change?);
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "NewRetryWatcher")]
#[doc(alias = "NewRetryWatcherWithContext")]
pub struct RetryWatcher<K, L: ListWatch<K>> {
    driver: Driver<K, L, LatestChange<K>>,
}

/// A store of the last change, until it is taken.
struct LatestChange<K>(Option<Delta<K>>);

// === impl RetryWatcher ===

impl<K, L> RetryWatcher<K, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    /// Watches from `from` on. No request is made before [`next`](Self::next).
    ///
    /// # Errors
    ///
    /// [`RetryWatcherError::StartVersion`] if nothing can be resumed from that version: it is empty or `0`.
    pub fn new(list_watch: L, from: ResourceVersion) -> Result<Self, RetryWatcherError> {
        Self::with_options(list_watch, from, WatchOptions::default())
    }

    /// The same, with options.
    ///
    /// # Errors
    ///
    /// [`RetryWatcherError::StartVersion`], as above.
    pub fn with_options(
        list_watch: L,
        from: ResourceVersion,
        options: WatchOptions,
    ) -> Result<Self, RetryWatcherError> {
        if !from.is_resumable() {
            return Err(RetryWatcherError::StartVersion(from));
        }
        let start_interval_min = options.start_interval_min;
        let reflector = Reflector::new(list_watch, LatestChange(None), options.into_reflector());
        let driver = reflector
            .with_last_version(from)
            .into_driver(Mode::Follow)
            .with_watch_interval_min(start_interval_min);
        Ok(Self { driver })
    }

    /// Waits for the next change: [`WatchEvent::Added`], [`Modified`](WatchEvent::Modified) or
    /// [`Deleted`](WatchEvent::Deleted). Bookmarks are taken in, not passed on. An error is the last thing that comes, and
    /// then there is none; what may pass is tried again for ever, so that a limit is the caller's.
    ///
    /// # Cancel safety
    ///
    /// No change is lost if dropped. A request under way is given up, and made again with the next call, not sooner than
    /// [`start_interval_min`](WatchOptions::start_interval_min) after it began.
    #[doc(alias = "ResultChan")]
    pub async fn next(&mut self) -> Option<Result<WatchEvent<K>, RetryWatcherError>> {
        loop {
            match self.driver.step().await.ok()? {
                Progress::Failed(error) if self.driver.has_stopped() => {
                    return Some(Err(self.failed(error)));
                }
                Progress::Received(Some(_)) if self.driver.has_stopped() => {
                    let error = ListWatchError::Protocol {
                        what: "an event without a version".to_owned(),
                        source: None,
                    };
                    return Some(Err(self.untold(error)));
                }
                Progress::Received(Some(kind)) => {
                    let delta = self.driver.store_mut().0.take();
                    if let Some(event) = delta.and_then(|delta| event_of(kind, delta)) {
                        return Some(Ok(event));
                    }
                }
                Progress::Received(None) | Progress::Failed(_) | Progress::Other => {}
            }
        }
    }

    /// The same as a stream.
    pub fn into_stream(
        self,
    ) -> impl Stream<Item = Result<WatchEvent<K>, RetryWatcherError>> + Send {
        futures::stream::unfold(self, |mut watcher| async move {
            let item = watcher.next().await?;
            Some((item, watcher))
        })
    }

    /// The version up to which all changes were returned: that of the last change or bookmark.
    pub fn resource_version(&self) -> &ResourceVersion {
        self.driver.resource_version()
    }

    fn failed(&self, source: ListWatchError) -> RetryWatcherError {
        match FailureCause::of(&source) {
            FailureCause::Expired => RetryWatcherError::Expired {
                version: self.resource_version().clone(),
                source,
            },
            FailureCause::Unreadable => self.untold(source),
            _ => RetryWatcherError::Refused(source),
        }
    }

    fn untold(&self, source: ListWatchError) -> RetryWatcherError {
        RetryWatcherError::ChangeUnavailable {
            version: self.resource_version().clone(),
            source,
        }
    }
}

impl<K, L> fmt::Debug for RetryWatcher<K, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryWatcher")
            .field("resource", &self.driver.resource())
            .field("resource_version", self.resource_version())
            .finish_non_exhaustive()
    }
}

// === impl LatestChange ===

impl<K: Send + Sync + 'static> ReflectorStore<K> for LatestChange<K> {
    async fn write(&mut self, delta: Delta<K>) -> Result<(), StoreClosed> {
        self.0 = Some(delta);
        Ok(())
    }
}

/// Returns the change in the words of the wire.
fn event_of<K>(kind: EventKind, delta: Delta<K>) -> Option<WatchEvent<K>> {
    let arrived = match delta {
        Delta::Upserted(object) | Delta::Deleted(object) => Ok(object),
        Delta::Undecodable(error) | Delta::DeletedUndecodable(error) => Err(error),
        Delta::ReplacedAll(_) | Delta::Bookmark(_) => return None,
    };
    Some(match kind {
        EventKind::Added => WatchEvent::Added(arrived),
        EventKind::Modified => WatchEvent::Modified(arrived),
        EventKind::Deleted => WatchEvent::Deleted(arrived),
    })
}
