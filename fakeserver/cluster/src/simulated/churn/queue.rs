//! The queue of due events.

use std::collections::BTreeMap;

use uuid::Uuid;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A node renews its lease.
    Renew(u32),
    /// A node reports its status.
    Report(u32),
    /// Some node falls silent.
    Fail,
    /// A silent node counts as lost.
    Lose(u32),
    /// The pods of a lost node are deleted.
    Evict(u32),
    Recover(u32),
    Bind(PodRef),
    Start(PodRef),
    Restart(PodRef),
    Stop(PodRef),
    Finish(PodRef),
    /// A deployment is looked at.
    Sync(u32),
}

/// A pod. Its number may be that of another one by the time that something is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PodRef {
    pub(super) number: u32,
    pub(super) uid: Uuid,
}

/// Actions in the order of their times, and of the same time in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    actions: BTreeMap<(i64, u64), Action>,
    added: u64,
}

// === impl Queue ===

impl Queue {
    /// At a time in milliseconds.
    pub(super) fn add(&mut self, at: i64, action: Action) {
        self.actions.insert((at, self.added), action);
        self.added += 1;
    }

    /// The next one that is due at `now`.
    pub(super) fn pop(&mut self, now: i64) -> Option<Action> {
        let next = self.actions.first_entry()?;
        (next.key().0 <= now).then(|| next.remove())
    }

    pub(super) fn len(&self) -> usize {
        self.actions.len()
    }
}
