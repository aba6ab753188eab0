//! What every request works on: the store, who watches it, and the sources of time and chance.

use std::sync::Arc;

use arc_swap::ArcSwap;
use uuid::Uuid;

use super::bootstrap::bootstrap;
use super::{
    requests::Requests,
    stats::{Stats, Tally},
};
use crate::{
    clock::Clock,
    entropy::Entropy,
    faults::Faults,
    openapi::{Documents, DocumentsCache},
    registry::{Registry, selectable_fields},
    storage::{Compaction, Storage},
    watch_cache::Watchers,
};

/// The state of one server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) storage: Storage,
    /// Replaced as a whole under the lock of the storage.
    registry: Arc<ArcSwap<Registry>>,
    openapi: DocumentsCache,
    pub(crate) watchers: Arc<Watchers>,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
    pub(crate) faults: Faults,
    pub(crate) tally: Tally,
    pub(crate) requests: Requests,
    /// The uids of the flow schema and the priority level that every request is classified as.
    pub(crate) flow_control: (Uuid, Uuid),
}

// === impl Core ===

impl Core {
    pub(crate) fn new(
        seed: u64,
        clock: Clock,
        compaction: Compaction,
        watcher_buffer: usize,
        requests: Requests,
    ) -> Self {
        let entropy = Entropy::new(seed);
        let flow_control = (entropy.audit_id(), entropy.audit_id());
        let watchers = Arc::new(Watchers::new(watcher_buffer));
        let registry = Arc::new(ArcSwap::new(Registry::builtin()));
        let known = Arc::clone(&registry);
        let fields =
            move |resource: &_, object: &_| selectable_fields(&known.load(), resource, object);
        let core = Self {
            storage: Storage::new(compaction, Box::new(fields), Arc::clone(&watchers) as _),
            registry,
            openapi: DocumentsCache::default(),
            watchers,
            clock,
            entropy,
            faults: Faults::default(),
            tally: Tally::default(),
            requests,
            flow_control,
        };
        core.reset();
        core
    }

    /// The resources that exist now.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.registry.load_full()
    }

    /// The OpenAPI documents of the resources that exist now.
    pub(crate) fn openapi(&self) -> Arc<Documents> {
        self.openapi.of(self.registry())
    }

    /// Serves other resources from now on. To be called in a transaction, so that what is stored and what is served go
    /// together.
    pub(crate) fn set_registry(&self, registry: Arc<Registry>) {
        self.registry.store(registry);
    }

    /// Makes it an empty cluster. Time, uids and faults go on.
    pub(crate) fn reset(&self) {
        self.storage.reset(|tx| {
            self.set_registry(Registry::builtin());
            bootstrap(self, tx);
        });
        self.tally.reset();
        self.requests.reset();
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            revision: self.storage.revision().get(),
            watchers: self.watchers.len(),
            requests: self.tally.counts(),
            requests_forgotten: self.requests.forgotten(),
        }
    }
}
