//! The point up to which a state is on the disk, and waits for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::watch, time::timeout};

/// The point up to which a state is on the disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Durable {
    /// The number of the last commit that is.
    pub sequence: u64,
    /// The revision of the state that is; 0 while the present state, which has replaced another one, is not.
    pub revision: u64,
    /// The reason why the log does not advance, if it does not.
    pub stall: Option<Arc<str>>,
}

/// A commit is not known to be on the disk. It may be there later.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct WaitError {
    /// The reason.
    pub reason: Arc<str>,
}

/// A handle to wait until commits are on the disk. Clones are handles of the same log.
#[derive(Debug, Clone)]
pub struct Durability(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The number of the last commit.
    latest: AtomicU64,
    durable: watch::Sender<Durable>,
    /// True if nothing leaves the server before it is on the disk.
    holds_back: bool,
    limit: Duration,
    syncs: AtomicU64,
    refusals: AtomicU64,
}

// === impl Durability ===

impl Durability {
    /// Begins with a state that is on the disk. Waits end after `limit`, or at once if not `holds_back`.
    pub(crate) fn new(sequence: u64, holds_back: bool, limit: Duration) -> Self {
        let durable = Durable {
            sequence,
            ..Durable::default()
        };
        Self(Arc::new(Shared {
            latest: AtomicU64::new(sequence),
            durable: watch::Sender::new(durable),
            holds_back,
            limit,
            syncs: AtomicU64::default(),
            refusals: AtomicU64::default(),
        }))
    }

    /// Returns the point up to which the state is on the disk.
    pub fn durable(&self) -> Durable {
        self.0.durable.borrow().clone()
    }

    /// Returns the reason why the log does not advance, if answers wait for it and it does not.
    pub fn stall(&self) -> Option<Arc<str>> {
        if !self.0.holds_back {
            return None;
        }
        self.0.durable.borrow().stall.clone()
    }

    /// Waits until all commits of before the call are on the disk.
    ///
    /// # Errors
    ///
    /// The log does not advance, or has not done so in time. The commits may be on the disk later.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn settled(&self) -> Result<(), WaitError> {
        if !self.0.holds_back {
            return Ok(());
        }
        let latest = self.0.latest.load(Ordering::Acquire);
        let mut durable = self.0.durable.subscribe();
        let settled =
            durable.wait_for(|durable| durable.sequence >= latest || durable.stall.is_some());
        let reason = match timeout(self.0.limit, settled).await {
            Ok(Ok(durable)) if durable.sequence >= latest => return Ok(()),
            Ok(Ok(durable)) => durable.stall.clone(),
            Ok(Err(_)) => None,
            Err(_) => Some(format!("it was not synced within {:?}", self.0.limit).into()),
        };
        Err(WaitError {
            reason: reason.unwrap_or_else(|| "it has ended".into()),
        })
    }

    /// Waits until the state of `revision` is on the disk, however long that takes.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn reached(&self, revision: u64) {
        if !self.0.holds_back || self.0.durable.borrow().revision >= revision {
            return;
        }
        let mut durable = self.0.durable.subscribe();
        // The sender lives in `self`.
        let _ = durable
            .wait_for(|durable| durable.revision >= revision)
            .await;
    }

    /// Counts a request that was refused because the log does not advance.
    pub fn count_refusal(&self) {
        self.0.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of syncs, and that of refused requests.
    pub fn counts(&self) -> (u64, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&self.0.syncs), count(&self.0.refusals))
    }

    pub(crate) fn set_latest(&self, sequence: u64) {
        self.0.latest.store(sequence, Ordering::Release);
    }

    pub(crate) fn count_sync(&self) {
        self.0.syncs.fetch_add(1, Ordering::Relaxed);
    }

    /// Changes the point, and wakes those that wait if it is another one.
    pub(crate) fn publish(&self, change: impl FnOnce(&mut Durable)) {
        self.0.durable.send_if_modified(|durable| {
            let before = durable.clone();
            change(durable);
            *durable != before
        });
    }
}
