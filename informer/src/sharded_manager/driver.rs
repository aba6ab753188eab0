//! A copy from its announcement to its end in good order.

use std::{fmt, sync::Arc};

use futures::future::{join, join_all};
use kube::Client;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Ownership, ShardedManagerError,
    machine::Plan,
    membership::Membership,
    names::LeaseNames,
    worker::{MakeController, Setup, ShardWorker},
};
use crate::{
    controller::Runnable,
    factory::SharedInformerFactory,
    leader_election::{LeaderElectionError, LeaderElectionOptions, LeaderElector, LeaseLock},
    manager::{
        Background, Health, ManagerError, RunLimits, Stage, run_limit_setters, until_signal,
    },
    shard::{Shard, ShardField},
};

/// The largest number of shards: each costs its owner a request every few seconds.
const SHARD_COUNT_MAX: u32 = 1_000;

/// Runs controllers for those of the shards that this copy owns.
///
/// The [module](super) tells how copies share the shards.
#[must_use = "it does nothing until it is run or started"]
pub struct ShardedManager {
    client: Client,
    factory: SharedInformerFactory,
    is_own_factory: bool,
    namespace: String,
    names: LeaseNames,
    identity: Arc<str>,
    controllers: Vec<MakeController>,
    election: LeaderElectionOptions,
    limits: RunLimits,
    ownership: Ownership,
    health: Health,
}

/// A sharded manager that runs beside its owner. Dropping it ends it at once, as a crash would: its leases run out.
#[must_use = "dropping it ends the manager"]
pub struct RunningShardedManager {
    ownership: Ownership,
    background: Background,
}

// === impl ShardedManager ===

impl ShardedManager {
    /// Creates a manager over `client` of `shard_count` shards by uid, with a factory of its own for all namespaces.
    ///
    /// The leases are in `namespace`; their names begin with `name`, which is the value of a label, too. All copies have the same
    /// name and number of shards, and each its own `identity`: the pod's name, say. A multiple of the usual number of copies is a
    /// good number of shards.
    ///
    /// # Errors
    ///
    /// There are no shards or too many, or the identity is empty.
    pub fn new(
        client: Client,
        namespace: impl Into<String>,
        name: impl Into<String>,
        identity: impl Into<Arc<str>>,
        shard_count: u32,
    ) -> Result<Self, ShardedManagerError> {
        if shard_count == 0 || shard_count > SHARD_COUNT_MAX {
            return Err(ShardedManagerError::ShardCount { count: shard_count });
        }
        let identity = identity.into();
        if identity.is_empty() {
            return Err(LeaderElectionError::NoIdentity.into());
        }
        Ok(Self {
            factory: SharedInformerFactory::new(client.clone()),
            client,
            is_own_factory: true,
            namespace: namespace.into(),
            names: LeaseNames {
                manager: name.into(),
                shard_count,
                field: ShardField::Uid,
            },
            identity,
            controllers: Vec::new(),
            election: LeaderElectionOptions::default(),
            limits: RunLimits::default(),
            ownership: Ownership::default(),
            health: Health::default(),
        })
    }

    /// Divides objects by this field, in all copies alike.
    pub fn with_shards_by(mut self, field: ShardField) -> Self {
        self.names.field = field;
        self
    }

    /// Takes the caches from `factory`, for its namespaces and with its selectors. It is started, and not shut down.
    pub fn with_factory(mut self, factory: &SharedInformerFactory) -> Self {
        self.factory = factory.clone();
        self.is_own_factory = false;
        self
    }

    /// Runs a controller, too: `make` makes one for each shard that comes to be owned.
    pub fn with_controller(mut self, make: impl Fn() -> Runnable + Send + Sync + 'static) -> Self {
        self.controllers.push(Box::new(make));
        self
    }

    /// Sets how long leases last, and when they are renewed, in all copies alike. Leases of shards are given back in good order
    /// whatever these say.
    ///
    /// # Errors
    ///
    /// The durations do not go together.
    pub fn with_election_options(
        mut self,
        options: LeaderElectionOptions,
    ) -> Result<Self, ShardedManagerError> {
        options.check()?;
        self.election = options;
        Ok(self)
    }

    run_limit_setters!(
        limits,
        "Sets the time limit for the first state of a shard's caches; two minutes by default.",
        "Sets the time limit for the end of a shard's controllers; 30 s by default. A shard whose controllers take longer stays without an owner until its lease has run out."
    );

    /// Returns a view of the shards that this copy owns.
    pub fn ownership(&self) -> Ownership {
        self.ownership.clone()
    }

    /// Returns the health of this manager, for probes. It is ready once it has announced itself and seen the others.
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Runs until SIGINT or SIGTERM, and ends in good order. A second signal ends it at once.
    ///
    /// # Errors
    ///
    /// As of [`run`](Self::run); or the signals cannot be listened to.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time and signals enabled.
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once.
    pub async fn run_until_signal(self) -> Result<(), ManagerError> {
        until_signal(|stop| Box::pin(self.run(stop))).await
    }

    /// Runs until `stop`, and ends in good order: other copies take over what this one owned.
    ///
    /// A shard that is lost is no error: it is another copy's then, or comes back.
    ///
    /// # Errors
    ///
    /// The caches of a shard are not filled in time, or controllers do not end in time at the stop. A program ends then, and is started
    /// again.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once: reconciles under way are dropped, and the leases run out.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ManagerError> {
        let mut membership = Membership::new(
            &self.client,
            &self.namespace,
            self.names.clone(),
            Arc::clone(&self.identity),
            self.election.clone(),
        );
        let (plans, seen) = watch::channel(Plan::default());
        let (health, ownership) = (self.health.clone(), self.ownership.clone());
        let (factory, is_own_factory) = (self.factory.clone(), self.is_own_factory);
        factory.start();
        // Fires with the first failure, too.
        let stop = stop.child_token();
        let workers = self.workers(&seen, &membership, &stop);
        let working = join_all(workers.into_iter().map(async |worker| {
            let outcome = worker.run().await;
            if outcome.is_err() {
                stop.cancel();
            }
            outcome
        }));
        let announcing = async {
            let showing = show(seen.clone(), &ownership, &health);
            let announcing = join(membership.run(&plans), showing);
            stop.run_until_cancelled(announcing).await;
            membership.withdraw().await;
        };
        let (outcomes, ()) = join(working, announcing).await;
        health.reach(Stage::Ended);
        if is_own_factory {
            factory.shutdown().await;
        }
        outcomes.into_iter().collect()
    }

    /// Runs in a task of its own until it is shut down or dropped: for tests.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    pub fn start(self) -> RunningShardedManager {
        RunningShardedManager {
            ownership: self.ownership(),
            background: Background::start(|stop| self.run(stop)),
        }
    }

    /// Makes a worker for each shard.
    fn workers(
        self,
        plans: &watch::Receiver<Plan>,
        membership: &Membership,
        stop: &CancellationToken,
    ) -> Vec<ShardWorker> {
        let setup = Arc::new(Setup {
            client: self.client.clone(),
            factory: self.factory,
            controllers: self.controllers,
            limits: self.limits,
            ownership: self.ownership,
            round_requested: membership.round_requested(),
            stop: stop.clone(),
        });
        let shards = Shard::all(self.names.field, self.names.shard_count);
        let workers = shards.map(|shard| {
            let name = self.names.of_shard(shard.index());
            let lock = LeaseLock::new(self.client.clone(), &*self.namespace, name);
            let lock = lock.with_labels(self.names.labels());
            let identity = self.identity.to_string();
            let elector = LeaderElector::with_options(lock, identity, self.election.clone());
            ShardWorker {
                setup: Arc::clone(&setup),
                shard,
                elector: elector.expect("identity and durations were checked"),
                plans: plans.clone(),
            }
        });
        workers.collect()
    }
}

/// Shows who is there, for as long as there are plans.
async fn show(mut plans: watch::Receiver<Plan>, ownership: &Ownership, health: &Health) {
    while plans.changed().await.is_ok() {
        ownership.set_members(&plans.borrow_and_update().members);
        health.reach(Stage::Synced);
    }
}

impl fmt::Debug for ShardedManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardedManager")
            .field("names", &self.names)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

// === impl RunningShardedManager ===

impl RunningShardedManager {
    /// Returns a view of the shards that it owns.
    pub fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// Ends in good order, and returns how the manager ended.
    ///
    /// # Errors
    ///
    /// As of [`ShardedManager::run`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once.
    pub async fn shutdown(self) -> Result<(), ManagerError> {
        self.background.shutdown().await
    }
}

impl fmt::Debug for RunningShardedManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningShardedManager")
            .field("ownership", &self.ownership)
            .finish_non_exhaustive()
    }
}
