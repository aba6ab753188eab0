//! The state that every request works on: the store, its watchers, and the sources of time and randomness.

use std::{convert::Infallible, sync::Arc};

use arc_swap::ArcSwap;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    bootstrap::{bootstrap, bootstrap_roles},
    feed::{Feed, Sinks},
    leases::Leases,
    requests::Requests,
    security::Security,
    stats::{Stats, Tally},
};
use crate::{
    clock::Clock,
    edge::{
        authentication::{Authenticator, TokenSigner},
        authorization::{Authorization, Authorizer},
        openapi::{Documents, DocumentsCache},
    },
    entropy::Entropy,
    faults::Faults,
    kinds::{self, registry::Registry},
    store::{
        Compaction, ObjectKey, Range, Storage,
        snapshot::{Kept, Restart, Snapshot},
    },
    value::revision::Revision,
    watch::Watchers,
    write::{Writer, admission::HookCache, webhook::Webhooks},
};

/// The state of one server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) storage: Arc<Storage>,
    /// Replaced as a whole under the lock of the storage.
    registry: Arc<ArcSwap<Registry>>,
    openapi: DocumentsCache,
    pub(crate) watchers: Arc<Watchers>,
    /// The changes for controllers.
    pub(crate) feed: Arc<Feed>,
    pub(crate) leases: Arc<Leases>,
    pub(crate) clock: Clock,
    seed: u64,
    pub(crate) entropy: Arc<Entropy>,
    pub(crate) faults: Faults,
    pub(crate) authenticator: Authenticator,
    pub(crate) authorizer: Authorizer,
    /// The routes of webhooks, and their configurations.
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) hooks: HookCache,
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
        security: Security,
    ) -> Self {
        let entropy = Entropy::new(seed);
        let token_key = security.token_key.unwrap_or_else(|| entropy.token_key());
        let flow_control = (entropy.audit_id(), entropy.audit_id());
        let watchers = Arc::new(Watchers::new(watcher_buffer));
        let feed = Arc::new(Feed::default());
        let leases = Arc::new(Leases::default());
        let sinks = Sinks([
            Arc::clone(&watchers) as _,
            Arc::clone(&leases) as _,
            Arc::clone(&feed) as _,
        ]);
        let registry = Arc::new(ArcSwap::new(Registry::builtin()));
        let known = Arc::clone(&registry);
        let fields =
            move |resource: &_, object: &_| known.load().selectable_values(resource, object);
        let core = Self {
            storage: Arc::new(Storage::new(compaction, Box::new(fields), Arc::new(sinks))),
            leases,
            registry,
            openapi: DocumentsCache::default(),
            watchers,
            feed,
            clock,
            seed,
            authenticator: Authenticator::new(
                security.tokens,
                TokenSigner::new(token_key),
                security.serves_anonymous,
            ),
            authorizer: Authorizer::new(security.authorization),
            entropy: Arc::new(entropy),
            faults: Faults::default(),
            webhooks: Arc::default(),
            hooks: HookCache::default(),
            tally: Tally::default(),
            requests,
            flow_control,
        };
        core.reset();
        core
    }

    /// From what everything random follows.
    #[cfg(feature = "cluster")]
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Deletes what has expired by now.
    pub(crate) fn expire_leases(&self, now: Instant) {
        let expired = self.leases.take_expired(now);
        if expired.is_empty() {
            return;
        }
        let deleted: Result<(), Infallible> = self.storage.transact(|tx| {
            for (key, revision) in expired {
                let found = tx.get(&key);
                if found.is_some_and(|object| object.revision() == revision) {
                    tx.delete(&key);
                }
            }
            Ok(())
        });
        let Ok(()) = deleted;
    }

    /// Returns the parts that writes use.
    pub(crate) fn writer(&self) -> Writer<'_> {
        Writer {
            storage: &self.storage,
            registry: &self.registry,
            clock: &self.clock,
            entropy: &self.entropy,
            webhooks: &self.webhooks,
            hooks: &self.hooks,
        }
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

    /// The whole store as it is now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let (revision, drawn, tables) = self.storage.view(|view| {
            let tables: Vec<_> = view
                .resources()
                .map(|resource| view.snapshot(resource))
                .collect();
            (view.revision(), self.entropy.position(), tables)
        });
        let objects = tables
            .iter()
            .flat_map(|table| table.objects(&Range::All, None));
        let mut objects: Vec<Kept> = objects
            .map(|object| Kept {
                key: object.key().clone(),
                revision: Revision::new(object.revision()),
                json: object.json(),
            })
            .collect();
        objects.sort_by_key(|kept| !is_definition(&kept.key));
        Snapshot {
            revision,
            time: self.clock.now(),
            seed: self.seed,
            drawn,
            objects,
        }
    }

    /// Goes on with what `snapshot` holds. `define` serves the custom resources that are defined.
    pub(crate) fn restore(&self, snapshot: &Snapshot, restart: Restart, define: impl FnOnce()) {
        let revision = restart.revision(snapshot.revision);
        let stored = |kept: &Kept| {
            let object = serde_json::from_slice(&kept.json).expect("it was read as JSON");
            (kept.key.clone(), kept.revision, object)
        };
        let is_definition = |kept: &&Kept| is_definition(&kept.key);
        let definitions = snapshot.objects.iter().filter(is_definition).map(stored);
        // What field selectors may ask for of custom resources is known only when these are.
        self.storage.restore(revision, definitions.collect());
        define();
        let objects = snapshot.objects.iter().map(stored);
        self.storage.restore(revision, objects.collect());
        self.storage
            .view(|view| self.leases.renew(view, Instant::now()));
        if self.authorizer.mode() == Authorization::Rbac {
            // The state may come from a server without rules.
            let Ok(()) = self.storage.transact(|tx| {
                bootstrap_roles(self, tx);
                Ok::<_, Infallible>(())
            });
        }
        self.tally.reset();
        self.requests.reset();
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            revision: self.storage.revision().get(),
            watchers: self.watchers.len(),
            unseen_changes: self.feed.len(),
            requests: self.tally.counts(),
            requests_forgotten: self.requests.forgotten(),
        }
    }
}

/// Returns whether it is the key of a definition of custom resources.
fn is_definition(key: &ObjectKey) -> bool {
    key.resource() == kinds::apiextensions::custom_resource_definition::KIND.storage()
}
