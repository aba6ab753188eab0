//! What every request works on: the store, who watches it, and the sources of time and chance.

use std::sync::Arc;

use uuid::Uuid;

use super::bootstrap::bootstrap;
use super::stats::{Stats, Tally};
use crate::{
    clock::Clock,
    entropy::Entropy,
    faults::Faults,
    registry::selectable_fields,
    storage::{Compaction, Storage},
    watch_cache::Watchers,
};

/// The state of one server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) storage: Storage,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) faults: Faults,
    pub(crate) tally: Tally,
    /// The uids of the flow schema and the priority level that every request is classified as.
    pub(super) flow_control: (Uuid, Uuid),
}

// === impl Core ===

impl Core {
    pub(super) fn new(
        seed: u64,
        clock: Clock,
        compaction: Compaction,
        watcher_buffer: usize,
    ) -> Self {
        let entropy = Entropy::new(seed);
        let flow_control = (entropy.audit_id(), entropy.audit_id());
        let watchers = Arc::new(Watchers::new(watcher_buffer));
        let core = Self {
            storage: Storage::new(compaction, selectable_fields, Arc::clone(&watchers) as _),
            watchers,
            clock,
            entropy,
            faults: Faults::default(),
            tally: Tally::default(),
            flow_control,
        };
        core.reset();
        core
    }

    /// Makes it an empty cluster. Time, uids and faults go on.
    pub(super) fn reset(&self) {
        self.storage.reset(|tx| bootstrap(self, tx));
        self.tally.reset();
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            revision: self.storage.revision().get(),
            watchers: self.watchers.len(),
            requests: self.tally.counts(),
        }
    }
}
