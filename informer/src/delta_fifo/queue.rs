//! The pure core: what is queued, what a batch is, and when the first state counts as processed.

use std::collections::{BTreeSet, VecDeque};

use crate::store::Delta;

/// Capacity that an empty queue keeps; what a burst took beyond it is given back.
const KEPT_CAPACITY: usize = 64;

/// A batch that is popped at once: changes of distinct keys, or one item about the whole state.
#[derive(Debug)]
#[non_exhaustive]
pub struct Batch<K> {
    /// The items, in arrival order; at least one.
    pub deltas: Vec<Delta<K>>,
    /// True if they belong to the initial state: the first replacement was not yet processed.
    pub is_initial: bool,
}

#[derive(Debug)]
pub(super) struct Queue<K> {
    deltas: VecDeque<Delta<K>>,
    progress: Progress,
    is_closed: bool,
}

/// The progress of the first replacement. A change that arrives before it does not make the state whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Expected,
    InProcess,
    Processed,
}

// === impl Queue ===

impl<K> Queue<K> {
    pub(super) fn new() -> Self {
        Self {
            deltas: VecDeque::new(),
            progress: Progress::Expected,
            is_closed: false,
        }
    }

    pub(super) fn push(&mut self, delta: Delta<K>) {
        debug_assert!(!self.is_closed, "nothing enters a closed queue");
        self.deltas.push_back(delta);
    }

    /// Takes the next items: changes of up to `batch_max` distinct keys, or one item about the whole state.
    pub(super) fn pop(&mut self, batch_max: usize) -> Option<Batch<K>> {
        self.finish();
        let is_initial = self.progress != Progress::Processed;
        let is_replacement = matches!(self.deltas.front()?, Delta::ReplacedAll(_));
        if is_replacement && self.progress == Progress::Expected {
            self.progress = Progress::InProcess;
        }
        let deltas = self.deltas.drain(..self.batch_len(batch_max)).collect();
        if self.deltas.is_empty() {
            self.deltas.shrink_to(KEPT_CAPACITY);
        }
        Some(Batch { deltas, is_initial })
    }

    /// Marks the last popped item as processed.
    pub(super) fn finish(&mut self) {
        if self.progress == Progress::InProcess {
            self.progress = Progress::Processed;
        }
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(super) fn has_synced(&self) -> bool {
        self.progress == Progress::Processed
    }

    pub(super) fn len(&self) -> usize {
        self.deltas.len()
    }

    fn batch_len(&self, batch_max: usize) -> usize {
        let mut keys = BTreeSet::new();
        let distinct = self
            .deltas
            .iter()
            .take(batch_max)
            .take_while(|delta| delta.key().is_some_and(|key| keys.insert(key)))
            .count();
        // An item about the whole state ends the batch before it, and is handed out alone.
        distinct.max(1)
    }
}
