//! The judge: who reconciles what, and whose writes arrive when.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Hears of every reconcile and every write. Clones hear for the same.
#[derive(Clone, Default)]
pub(super) struct Oracle(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// By uid: the copies that reconcile the object at this moment, and how many times.
    open: BTreeMap<String, BTreeMap<u32, usize>>,
    /// By uid: the copy that began to reconcile it last.
    last: BTreeMap<String, u32>,
    /// The copies whose clocks stand still: what they had begun, they cannot end.
    standing: BTreeSet<u32>,
    pub(super) counts: Counts,
    violation: Option<String>,
}

/// The numbers of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) reconciles: u64,
    pub(super) writes: u64,
    /// Reconciles of an object by another copy than the last one.
    pub(super) handovers: u64,
    /// Reconciles that were dropped before their end.
    pub(super) dropped: u64,
}

/// A reconcile that has begun. Dropping it ends it.
pub(super) struct RunningReconcile {
    oracle: Oracle,
    uid: String,
    copy: u32,
    is_done: bool,
}

// === impl Oracle ===

impl Oracle {
    /// A copy begins to reconcile an object.
    pub(super) fn begin(&self, uid: &str, copy: u32) -> RunningReconcile {
        let mut state = self.lock();
        let standing = state.standing.clone();
        let open = state.open.entry(uid.to_owned()).or_default();
        let other = open
            .keys()
            .find(|other| **other != copy && !standing.contains(other));
        let other = other.copied();
        *open.entry(copy).or_default() += 1;
        if let Some(other) = other {
            state.object(format!("{uid}: {copy} begins while {other} is at it"));
        }
        state.counts.reconciles += 1;
        let before = state.last.insert(uid.to_owned(), copy);
        state.counts.handovers += u64::from(before.is_some_and(|before| before != copy));
        RunningReconcile {
            oracle: self.clone(),
            uid: uid.to_owned(),
            copy,
            is_done: false,
        }
    }

    /// A write of a reconcile arrives at the server.
    pub(super) fn write(&self, uid: &str, copy: u32) {
        let mut state = self.lock();
        state.counts.writes += 1;
        let last = state.last.get(uid).copied();
        if last != Some(copy) {
            state.object(format!(
                "{uid}: a write of {copy} arrives after {last:?} has begun"
            ));
        }
    }

    /// The clock of a copy stops or resumes.
    pub(super) fn set_standing(&self, copy: u32, stands: bool) {
        let mut state = self.lock();
        if stands {
            state.standing.insert(copy);
        } else {
            state.standing.remove(&copy);
        }
    }

    pub(super) fn violation(&self) -> Option<String> {
        self.lock().violation.clone()
    }

    pub(super) fn counts(&self) -> Counts {
        self.lock().counts
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl State ===

impl State {
    fn object(&mut self, violation: String) {
        self.violation.get_or_insert(violation);
    }
}

// === impl RunningReconcile ===

impl RunningReconcile {
    /// The reconcile has come to its end.
    pub(super) fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for RunningReconcile {
    fn drop(&mut self) {
        let mut state = self.oracle.lock();
        state.counts.dropped += u64::from(!self.is_done);
        let open = state.open.entry(self.uid.clone()).or_default();
        match open.get_mut(&self.copy) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(open.remove(&self.copy)),
        }
    }
}
