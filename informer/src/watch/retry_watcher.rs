//! One logical watch across many connections.

use std::{fmt, sync::Arc};

use futures::Stream;

use super::{RetryWatcherError, WatchOptions, driver::Watching};
use crate::{
    known::KnownNothing,
    list_watch::{ListWatch, WatchEvent},
    object::ResourceVersion,
};

/// Every change of a selection after a version, across broken and ended connections.
///
/// It does not list. Where its version comes from is the caller's affair: the answer to a list, or to a write.
///
/// # Ordering
///
/// Changes come in the order of their versions, each once. A change that is told again after a reconnect, or that is older
/// than one that was told, is left out.
///
/// # Examples
///
/// ```
/// use informer::{
///     http::{HttpListWatch, Scope},
///     watch::RetryWatcher,
/// };
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
pub struct RetryWatcher<K, L: ListWatch<K>> {
    list_watch: L,
    watching: Watching<K, L>,
}

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
        Ok(Self {
            list_watch,
            watching: Watching::new(from, options, Arc::new(KnownNothing))?,
        })
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
        self.watching.next(&self.list_watch).await
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

    /// The version up to which all was told: that of the last change or bookmark.
    pub fn resource_version(&self) -> &ResourceVersion {
        self.watching.resource_version()
    }
}

impl<K, L: ListWatch<K>> fmt::Debug for RetryWatcher<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryWatcher")
            .field("resource", &self.list_watch.resource())
            .field("resource_version", self.watching.resource_version())
            .finish_non_exhaustive()
    }
}
