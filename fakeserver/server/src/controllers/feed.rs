//! The changes since the controllers last ran.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::{Notify, watch};

use crate::store::{Change, ChangeSink};

/// A change that the controllers have not observed yet.
#[derive(Debug)]
pub(super) enum FeedItem {
    Changed(Arc<Change>),
    /// The store was emptied, and its revisions restart.
    Reset,
}

/// The changes that wait for the controllers, in order. It is empty while no controllers run.
///
/// # Memory
///
/// It is unbounded, since a change that is left out would never be seen; [`Stats`](crate::Stats) reports its length.
#[derive(Debug, Default)]
pub(super) struct Feed {
    is_open: AtomicBool,
    news: Mutex<VecDeque<FeedItem>>,
    arrived: Notify,
    /// True while the controllers have nothing to do but to wait.
    is_at_rest: watch::Sender<bool>,
}

// === impl Feed ===

impl Feed {
    /// Keeps changes from now on. False if it did so already.
    pub(super) fn open(&self) -> bool {
        !self.is_open.load(Ordering::Acquire) && !self.is_open.swap(true, Ordering::AcqRel)
    }

    /// Keeps nothing any more.
    pub(super) fn close(&self) {
        self.is_open.store(false, Ordering::Release);
        self.lock().clear();
        self.set_at_rest(false);
    }

    /// Sets whether the controllers have nothing to do but to wait.
    pub(super) fn set_at_rest(&self, is_at_rest: bool) {
        self.is_at_rest.send_replace(is_at_rest);
    }

    /// Waits until the controllers have nothing to do but to wait.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub(super) async fn at_rest(&self) {
        let mut is_at_rest = self.is_at_rest.subscribe();
        let waited = is_at_rest.wait_for(|is_at_rest| *is_at_rest).await;
        waited.expect("the feed has the sender");
    }

    /// Everything that has come since the last time.
    pub(super) fn take(&self) -> VecDeque<FeedItem> {
        std::mem::take(&mut *self.lock())
    }

    /// Waits until the feed has an item.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub(super) async fn arrived(&self) {
        while self.len() == 0 {
            self.arrived.notified().await;
        }
    }

    /// Returns the number of waiting changes.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn push(&self, news: FeedItem) {
        if self.is_open.load(Ordering::Acquire) {
            self.lock().push_back(news);
            self.set_at_rest(false);
            self.arrived.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<FeedItem>> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeSink for Feed {
    fn changed(&self, change: &Arc<Change>) {
        self.push(FeedItem::Changed(Arc::clone(change)));
    }

    fn reset(&self) {
        self.lock().clear();
        // The changes before a reset are about objects that are gone.
        self.push(FeedItem::Reset);
    }
}
