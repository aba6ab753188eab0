//! The courses of all clusters, begun and ended as clusters come and go.

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures::{
    StreamExt,
    future::{BoxFuture, FutureExt},
    stream::FuturesUnordered,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Cluster, Clusters, clusters::ByName, course::Setup};
use crate::{
    backoff::BackoffOptions,
    controller::Runnable,
    leader_election::LeaderElector,
    manager::{
        Background, Health, ManagerError, RunLimits, Stage, lost, run_limit_setters, until_signal,
    },
};

/// Runs controllers in each of several clusters.
///
/// The [module](super) has an example and the promises.
#[must_use = "it does nothing until it is run or started"]
pub struct MultiClusterManager {
    clusters: Clusters,
    setup: Setup,
    elector: Option<LeaderElector>,
    health: Health,
}

/// A manager of several clusters that runs beside its owner. Dropping it ends it at once: reconciles under way are dropped.
#[must_use = "dropping it ends the manager"]
pub struct RunningMultiClusterManager(Background);

/// The clusters in which controllers work.
struct ClusterRuns {
    setup: Arc<Setup>,
    running: BTreeMap<Arc<str>, (Cluster, CancellationToken)>,
    ends: FuturesUnordered<BoxFuture<'static, End>>,
}

/// The end of the controllers of a cluster.
type End = (Arc<str>, Result<(), ManagerError>);

// === impl MultiClusterManager ===

impl MultiClusterManager {
    /// Creates a manager of `clusters`: those that there are, and those that come later.
    pub fn new(clusters: &Clusters) -> Self {
        Self {
            clusters: clusters.clone(),
            setup: Setup {
                controllers: Vec::new(),
                limits: RunLimits::default(),
                backoff: BackoffOptions::default(),
            },
            elector: None,
            health: Health::default(),
        }
    }

    /// Runs a controller, too: `make` makes one for each cluster, and another one after a failure.
    pub fn with_controller(
        mut self,
        make: impl Fn(&Cluster) -> Runnable + Send + Sync + 'static,
    ) -> Self {
        self.setup.controllers.push(Box::new(make));
        self
    }

    /// Lets the controllers work only while this copy of the program leads, by a lease in a cluster of the user's choice.
    #[doc(alias = "LeaderElection")]
    pub fn with_leader_election(mut self, elector: LeaderElector) -> Self {
        self.elector = Some(elector);
        self
    }

    run_limit_setters!(
        setup.limits,
        "Sets the time limit for the first state of a cluster's caches, after which the cluster is tried again; two minutes by default.",
        "Sets the time limit for the end of a cluster's controllers; 30 s by default."
    );

    /// Sets the delays after which a cluster that failed is tried again.
    pub fn with_backoff(mut self, backoff: BackoffOptions) -> Self {
        self.setup.backoff = backoff;
        self
    }

    /// Returns the health of this manager, for probes: the manager is ready from the start, and leads once it works. [`Cluster::is_ready`] has
    /// the state of a single cluster.
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

    /// Runs until `stop`, and ends in good order.
    ///
    /// # Errors
    ///
    /// The leadership is lost, or the controllers of a cluster do not end in time at the stop. A program ends then, and is started
    /// again.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once: reconciles under way are dropped, and the lease is given back if the runtime still runs.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ManagerError> {
        let health = self.health.clone();
        health.reach(Stage::Synced);
        let outcome = self.lead(stop).await;
        health.reach(Stage::Ended);
        outcome
    }

    /// Runs in a task of its own until it is shut down or dropped: for tests.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    pub fn start(self) -> RunningMultiClusterManager {
        RunningMultiClusterManager(Background::start(|stop| self.run(stop)))
    }

    /// Waits for the leadership, and works in all clusters while it lasts.
    async fn lead(self, stop: CancellationToken) -> Result<(), ManagerError> {
        let leadership = match &self.elector {
            Some(elector) => match stop.run_until_cancelled(Box::pin(elector.acquire())).await {
                Some(leadership) => Some(leadership),
                None => return Ok(()),
            },
            None => None,
        };
        self.health.reach(Stage::Leading);
        let courses = ClusterRuns {
            setup: Arc::new(self.setup),
            running: BTreeMap::new(),
            ends: FuturesUnordered::new(),
        };
        let outcome = tokio::select! {
            biased;
            // What is under way is dropped.
            () = lost(leadership.as_ref()) => return Err(ManagerError::LeadershipLost),
            outcome = courses.run(self.clusters.subscribe(), &stop) => outcome,
        };
        if let Some(leadership) = leadership {
            leadership.release().await;
        }
        outcome
    }
}

impl fmt::Debug for MultiClusterManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiClusterManager")
            .field("clusters", &self.clusters)
            .field("elector", &self.elector)
            .finish_non_exhaustive()
    }
}

// === impl ClusterRuns ===

impl ClusterRuns {
    /// Works in the clusters that there are until `stop`.
    async fn run(
        mut self,
        mut clusters: watch::Receiver<ByName>,
        stop: &CancellationToken,
    ) -> Result<(), ManagerError> {
        loop {
            let wanted = clusters.borrow_and_update().clone();
            self.follow(&wanted, stop);
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some((name, _)) = self.ends.next() => {
                    self.running.remove(&name);
                }
                // The manager holds a sender: there is always more to come.
                _ = clusters.changed() => {}
            }
        }
        let mut outcome = Ok(());
        while let Some((_, ended)) = self.ends.next().await {
            outcome = outcome.and(ended);
        }
        outcome
    }

    /// Ends the courses of clusters that are gone or replaced, and begins those of new ones.
    fn follow(&mut self, wanted: &ByName, stop: &CancellationToken) {
        for (name, (cluster, stop)) in &self.running {
            if !wanted.get(name).is_some_and(|wanted| wanted.is(cluster)) {
                stop.cancel();
            }
        }
        for (name, cluster) in wanted {
            if self.running.contains_key(name) {
                continue;
            }
            let (own, stop) = (Arc::clone(name), stop.child_token());
            let course = Arc::clone(&self.setup).serve(cluster.clone(), stop.clone());
            self.ends.push(course.map(|ended| (own, ended)).boxed());
            let running = (cluster.clone(), stop);
            self.running.insert(Arc::clone(name), running);
        }
    }
}

// === impl RunningMultiClusterManager ===

impl RunningMultiClusterManager {
    /// Ends in good order, and returns how the manager ended.
    ///
    /// # Errors
    ///
    /// As of [`MultiClusterManager::run`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once.
    pub async fn shutdown(self) -> Result<(), ManagerError> {
        self.0.shutdown().await
    }
}

impl fmt::Debug for RunningMultiClusterManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningMultiClusterManager")
            .finish_non_exhaustive()
    }
}
