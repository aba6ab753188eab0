//! The task of the controllers: takes changes from the feed, and reconciles the keys that are due.

use std::{
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Duration,
};

use fakeserver_kinds::{certificates::authority::Authority, core};
use fakeserver_value::resource::GroupResource;
use tokio::time::{Instant, sleep_until};
use tracing::{debug, error, trace, warn};

use super::cluster_role_aggregation::ClusterRoleAggregation;
use super::{
    EnabledControllers,
    api_services::ApiServices,
    certificates,
    cluster::Cluster,
    controller::{Controller, WorkloadControllers},
    definitions::Definitions,
    feed::{Feed, FeedItem},
    flow_schemas::FlowSchemas,
    garbage_collector::GarbageCollector,
    index::{Index, ObjectChange},
    kept_objects::KeptObjects,
    leader_election::LeaderElection,
    namespaces::Namespaces,
    policy_status,
    protection::Protection,
    queue::{Item, KeyQueue, Queue},
    quota::Quotas,
    service_accounts, storage_migration,
};
use crate::{
    store::{CommitError, Range},
    write::Backend,
};

/// The number of keys that are processed before other tasks have their turn.
const KEYS_PER_TURN: usize = 64;
/// The time after which a key is looked at again if a limit range or a quota has not allowed a creation.
const AFTER_REFUSAL: Duration = Duration::from_secs(5);
/// The time after which a key is looked at again if the log of the store has failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The loop. While it is there, the feed is open.
pub(super) struct Driver {
    backend: Arc<Backend>,
    feed: Arc<Feed>,
    world: World,
    enabled: EnabledControllers,
    workloads: Option<Arc<dyn WorkloadControllers>>,
}

/// The state of the controllers, and their queue.
struct World {
    /// True if the store was reset, so that the index has to be rebuilt.
    is_stale: bool,
    index: Index,
    queue: Queue,
    controllers: Vec<Box<dyn Controller>>,
}

// === impl Driver ===

impl Driver {
    /// Creates the loop. `feed` is open, and closed when the loop is dropped.
    pub(super) fn new(
        backend: Arc<Backend>,
        feed: Arc<Feed>,
        enabled: EnabledControllers,
        workloads: Option<Arc<dyn WorkloadControllers>>,
    ) -> Self {
        let world = World::new(&enabled, workloads.as_deref());
        Self {
            backend,
            feed,
            world,
            enabled,
            workloads,
        }
    }

    /// Runs the controllers for ever.
    pub(super) async fn run(mut self) {
        debug!("controllers started");
        self.rebuild();
        loop {
            for _ in 0..KEYS_PER_TURN {
                // Before each key, and not each turn: a controller decides by what the one before has written.
                self.world.absorb(self.feed.take());
                if self.world.is_stale {
                    self.rebuild();
                }
                let Some(item) = self.world.queue.pop(Instant::now()) else {
                    break;
                };
                self.reconcile(&item).await;
            }
            let next = self.world.queue.next_due();
            // Keys are left: others get a turn, since a single-threaded runtime would serve no request until the queue
            // is empty.
            if next.is_some_and(|at| at <= Instant::now()) {
                tokio::task::yield_now().await;
                continue;
            }
            let due = async {
                match next {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            // Not if something has come since the last key: then the feed has an item, and the next turn begins.
            self.feed.set_at_rest(self.feed.len() == 0);
            tokio::select! {
                biased;
                // Reconciling may have changed objects, and so made other keys due.
                () = self.feed.arrived() => {}
                () = due => {}
            }
            self.feed.set_at_rest(false);
        }
    }

    /// Begins with what is stored.
    fn rebuild(&mut self) {
        self.world = World::new(&self.enabled, self.workloads.as_deref());
        let stored = self.backend.storage.view(|view| {
            // All changes queued so far are part of the stored state that is read below.
            self.feed.take();
            let resources: Vec<GroupResource> = view.resources().cloned().collect();
            resources
                .iter()
                .map(|resource| view.snapshot(resource))
                .collect::<Vec<_>>()
        });
        let objects = stored
            .iter()
            .flat_map(|snapshot| snapshot.objects(&Range::All, None));
        for object in objects {
            self.world.observe(&ObjectChange::new(None, Some(object)));
        }
        // After all objects: a controller that looks for missing ones must not take unread ones for missing.
        self.world.started();
    }

    /// Lets a controller reconcile a key, in one transaction. If it panics, the transaction is dropped, the panic is
    /// logged, and the other keys are still reconciled.
    ///
    /// With a log, a transaction that is in conflict is repeated by the same controller: it decides by what is stored, and not by
    /// what it has tried.
    async fn reconcile(&mut self, item: &Item) {
        let Self {
            backend,
            feed,
            world,
            ..
        } = self;
        let (controller, key) = item;
        let committing = backend
            .storage
            .commit_eventually(|tx| -> thread::Result<()> {
                // Under the store's lock no change is added to the feed: the index matches the state that the transaction
                // reads.
                world.absorb(feed.take());
                // The key may be of the store before the reset; it is dropped with the queue.
                if world.is_stale {
                    return Ok(());
                }
                let World {
                    index,
                    queue,
                    controllers,
                    ..
                } = world;
                let mut cluster = Cluster {
                    backend,
                    tx,
                    index,
                    refusal: None,
                };
                let mut due = KeyQueue::new(queue, *controller, Instant::now());
                let controller = &mut controllers[*controller];
                trace!(controller = controller.name(), key = %key, "looking");
                catch_unwind(AssertUnwindSafe(|| {
                    controller.reconcile(&mut cluster, key, &mut due);
                    if cluster.refusal.is_some() {
                        due.add(key.clone(), AFTER_REFUSAL);
                    }
                }))
            });
        let done = committing.await;
        let name = || world.controllers[*controller].name();
        match done {
            Ok(_) => {}
            Err(CommitError::Rejected(_)) => {
                error!(controller = name(), key = %key, "a controller panicked; its transaction was dropped");
            }
            Err(CommitError::Log(error)) => {
                let error = &error as &dyn Error;
                warn!(controller = name(), key = %key, error, "the writes of a controller were not committed");
                let mut due = KeyQueue::new(&mut world.queue, *controller, Instant::now());
                due.add(key.clone(), AFTER_FAILURE);
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.feed.close();
    }
}

// === impl World ===

impl World {
    fn new(enabled: &EnabledControllers, workloads: Option<&dyn WorkloadControllers>) -> Self {
        let mut controllers: Vec<Box<dyn Controller>> = vec![
            // The order of controllers is that in which they observe a change. It is fixed, so that a run can be
            // repeated.
            Box::new(Definitions::default()),
            Box::new(Protection::default()),
            Box::new(FlowSchemas::default()),
        ];
        if enabled.bootstrapped {
            controllers.push(Box::new(ApiServices::default()));
            controllers.push(Box::new(KeptObjects::default()));
        }
        if enabled.namespaces {
            controllers.push(Box::new(Namespaces::new(workloads.is_some())));
        }
        if enabled.garbage_collector {
            controllers.push(Box::new(GarbageCollector::default()));
        }
        if enabled.quota {
            controllers.push(Box::new(Quotas::default()));
        }
        if enabled.leader_election {
            controllers.push(Box::new(LeaderElection::default()));
        }
        if enabled.service_accounts {
            let root = enabled.authority.as_ref().map(Authority::pem);
            controllers.extend(service_accounts::controller(root));
        }
        if enabled.certificates {
            controllers.extend(certificates::controller(enabled));
        }
        if let Some(workloads) = workloads {
            controllers.push(Box::new(ClusterRoleAggregation::default()));
            controllers.extend(workloads.controllers());
            controllers.push(policy_status::controller());
            controllers.push(storage_migration::controller());
        }
        Self {
            is_stale: false,
            index: Index::default().with_pods(workloads.is_some()),
            queue: Queue::default(),
            controllers,
        }
    }

    fn absorb(&mut self, news: impl IntoIterator<Item = FeedItem>) {
        for news in news {
            match news {
                FeedItem::Changed(change) => {
                    self.observe(&ObjectChange::new(change.before(), change.after()));
                }
                FeedItem::Reset => self.is_stale = true,
            }
        }
    }

    fn observe(&mut self, change: &ObjectChange<'_>) {
        // Events own nothing, and nothing owns them.
        if change.is_of(&core::event::KIND) {
            return;
        }
        let now = Instant::now();
        // Before the controllers, who look up dependents of the changed object.
        self.index.apply(change);
        for (number, controller) in self.controllers.iter_mut().enumerate() {
            let mut due = KeyQueue::new(&mut self.queue, number, now);
            let done = catch_unwind(AssertUnwindSafe(|| {
                controller.observe(change, &self.index, &mut due);
            }));
            if done.is_err() {
                let (controller, key) = (controller.name(), change.key());
                error!(controller, key = %key, "a controller panicked, and has not observed a change");
            }
        }
    }

    fn started(&mut self) {
        let now = Instant::now();
        for (number, controller) in self.controllers.iter_mut().enumerate() {
            controller.started(&mut KeyQueue::new(&mut self.queue, number, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        FakeServer,
        store::{ObjectKey, Transaction},
    };

    /// A controller that writes the keys it reconciles, and panics for an object named `panic`, in `observe` as in
    /// `reconcile`.
    struct PanickingController;

    impl Controller for PanickingController {
        fn name(&self) -> &'static str {
            "panicking controller"
        }

        fn observe(&mut self, change: &ObjectChange<'_>, _: &Index, due: &mut KeyQueue<'_>) {
            assert_ne!(change.key().name(), "panic");
            due.add(change.key().clone(), Duration::ZERO);
        }

        fn reconcile(
            &mut self,
            cluster: &mut Cluster<'_, '_>,
            key: &ObjectKey,
            _: &mut KeyQueue<'_>,
        ) {
            let object = json!({"metadata": {"name": key.name()}});
            cluster.tx.put(key, object);
            assert_ne!(key.name(), "panic");
        }
    }

    #[tokio::test]
    async fn a_controller_that_panics_writes_nothing_and_looks_at_the_next_key() {
        let server = FakeServer::builder().build();
        let backend = server.backend();
        let mut driver = Driver::new(
            Arc::clone(backend),
            Arc::default(),
            EnabledControllers::default(),
            None,
        );
        driver.world.controllers = vec![Box::new(PanickingController)];
        let before = backend.storage.revision();
        let key = |name| ObjectKey::cluster(core::node::KIND.storage().clone(), name);
        driver.reconcile(&(0, key("panic"))).await;
        assert_eq!(backend.storage.revision(), before);
        driver.reconcile(&(0, key("next"))).await;
        assert!(backend.storage.revision() > before);
    }

    #[test]
    fn a_controller_that_panics_when_it_hears_of_a_change_hears_of_the_next() {
        let server = FakeServer::builder().build();
        let backend = server.backend();
        let mut world = World::new(&EnabledControllers::default(), None);
        world.controllers = vec![Box::new(PanickingController)];
        let nodes = core::node::KIND.storage().clone();
        for name in ["panic", "next"] {
            let key = ObjectKey::cluster(nodes.clone(), name);
            let put = |tx: &mut Transaction<'_>| tx.put(&key, json!({"metadata": {"name": name}}));
            let stored = backend.storage.transact(|tx| Ok::<_, ()>(put(tx))).unwrap();
            world.observe(&ObjectChange::new(None, Some(&stored)));
        }
        let looked_at = world.queue.pop(Instant::now());
        assert_eq!(looked_at, Some((0, ObjectKey::cluster(nodes, "next"))));
        assert_eq!(world.queue.next_due(), None);
    }
}
