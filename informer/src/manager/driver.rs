//! From the first request to the end in good order.

use std::{convert::Infallible, fmt, sync::Arc, time::Duration};

use futures::future::{BoxFuture, join_all};
use kube::Client;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Background, Health, ManagerError, SettleError,
    health::Stage,
    limits::{RunLimits, run_limit_setters},
    settle::settle,
    signals::until_signal,
};
use crate::{
    controller::{Activity, CacheSource, PreparedController, Runnable, Running},
    factory::SharedInformerFactory,
    leader_election::{LeaderElector, Leadership},
};

/// The longest wait of [`RunningManager::settle`]. The clock of tests is paused, so that it takes no time.
const SETTLE_LIMIT: Duration = Duration::from_hours(1);

/// Runs controllers over one factory of informers.
///
/// The [module](super) tells the order of things.
#[doc(alias = "NewManager")]
#[must_use = "it does nothing until it is run or started"]
pub struct Manager {
    client: Client,
    cluster: Option<Arc<str>>,
    factory: SharedInformerFactory,
    is_own_factory: bool,
    controllers: Vec<Runnable>,
    elector: Option<LeaderElector>,
    limits: RunLimits,
    health: Health,
    /// Servers that run beside the controllers until these have ended.
    served: Vec<BoxFuture<'static, ()>>,
}

/// The course of a manager around its controllers.
struct ManagerRun {
    factory: SharedInformerFactory,
    elector: Option<LeaderElector>,
    limits: RunLimits,
    health: Health,
}

/// A manager that runs beside its owner, as in tests. Dropping it ends the manager at once: reconciles under way are dropped.
#[must_use = "dropping it ends the manager"]
pub struct RunningManager {
    health: Health,
    running: watch::Receiver<Vec<(Arc<str>, Activity)>>,
    background: Background,
}

// === impl Manager ===

impl Manager {
    /// Creates a manager over `client`, with a factory of its own for all namespaces.
    ///
    /// Use a client made by [`http::client`](crate::http::client).
    pub fn new(client: Client) -> Self {
        let factory = SharedInformerFactory::new(client.clone());
        Self {
            client,
            cluster: None,
            factory,
            is_own_factory: true,
            controllers: Vec::new(),
            elector: None,
            limits: RunLimits::default(),
            health: Health::default(),
            served: Vec::new(),
        }
    }

    /// Takes the caches from `factory`, for its namespaces and with its selectors. Others may use it, too: it is started, and not shut
    /// down.
    pub fn with_factory(mut self, factory: &SharedInformerFactory) -> Self {
        self.factory = factory.clone();
        self.is_own_factory = false;
        self
    }

    /// Tells the controllers which of several clusters they are in.
    pub(crate) fn in_cluster(mut self, name: &Arc<str>) -> Self {
        self.cluster = Some(Arc::clone(name));
        self
    }

    /// Takes both time limits from a manager of several.
    pub(crate) fn with_limits(mut self, limits: RunLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Runs a controller, too.
    #[doc(alias = "Add")]
    pub fn with_controller(mut self, controller: Runnable) -> Self {
        self.controllers.push(controller);
        self
    }

    /// Lets the controllers work only while this copy of the program leads.
    #[doc(alias = "LeaderElection")]
    pub fn with_leader_election(mut self, elector: LeaderElector) -> Self {
        self.elector = Some(elector);
        self
    }

    run_limit_setters!(
        limits,
        "Sets the time limit for the first state of the caches; two minutes by default.",
        "Sets the time limit for the end of the controllers; 30 s by default."
    );

    /// Serves paths on `listener` from the start to the end: those of [`endpoints`](super::endpoints()), say.
    #[cfg(feature = "endpoints")]
    pub fn with_endpoints(
        mut self,
        listener: tokio::net::TcpListener,
        paths: axum::Router,
    ) -> Self {
        self.served.push(super::endpoints::serve(listener, paths));
        self
    }

    /// Returns the health of this manager, for probes.
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
        until_signal(|stop| self.run(stop)).await
    }

    /// Runs until `stop`, and ends in good order.
    ///
    /// # Errors
    ///
    /// The caches are not filled in time, the leadership is lost, or the controllers do not end in time. A program ends then, and is
    /// started again.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once: reconciles under way are dropped, and the lease is given back if the runtime still runs.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ManagerError> {
        self.run_observed(stop, &watch::Sender::new(Vec::new()))
            .await
    }

    /// Runs in a task of its own until it is shut down or dropped: for tests.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    pub fn start(self) -> RunningManager {
        let (sender, running) = watch::channel(Vec::new());
        RunningManager {
            health: self.health(),
            running,
            background: Background::start(
                |stop| async move { self.run_observed(stop, &sender).await },
            ),
        }
    }

    async fn run_observed(
        self,
        stop: CancellationToken,
        running: &watch::Sender<Vec<(Arc<str>, Activity)>>,
    ) -> Result<(), ManagerError> {
        let course = ManagerRun {
            factory: self.factory,
            elector: self.elector,
            limits: self.limits,
            health: self.health,
        };
        let controllers = self.controllers.into_iter();
        let caches = CacheSource::new(course.factory.clone()).in_cluster(self.cluster);
        let prepared: Vec<_> = controllers
            .map(|controller| controller.prepare(&self.client, &caches))
            .collect();
        let start = || {
            let controllers: Vec<Running> = prepared
                .into_iter()
                .map(PreparedController::start)
                .collect();
            let activities = controllers.iter();
            let activities = activities.map(|own| (Arc::clone(own.name()), own.activity()));
            running.send_replace(activities.collect());
            controllers
        };
        course.factory.start();
        let controlling = async {
            let outcome = course.lead(&stop, start).await;
            course.health.reach(Stage::Ended);
            if self.is_own_factory {
                course.factory.shutdown().await;
            }
            outcome
        };
        let served = async {
            join_all(self.served).await;
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            outcome = controlling => outcome,
            never = served => match never {},
        }
    }
}

// === impl ManagerRun ===

impl ManagerRun {
    /// Waits for the caches and for the leadership, then lets the controllers work.
    async fn lead(
        &self,
        stop: &CancellationToken,
        start: impl FnOnce() -> Vec<Running>,
    ) -> Result<(), ManagerError> {
        // The caches before the election: a copy that leads can work at once, and one that waits takes over as fast.
        let synced = self.factory.wait_for_cache_sync(self.limits.sync);
        match stop.run_until_cancelled(synced).await {
            Some(synced) => synced?,
            None => return Ok(()),
        }
        self.health.reach(Stage::Synced);
        let leadership = match &self.elector {
            Some(elector) => match stop.run_until_cancelled(Box::pin(elector.acquire())).await {
                Some(leadership) => Some(leadership),
                None => return Ok(()),
            },
            None => None,
        };
        self.health.reach(Stage::Leading);
        let controllers = start();
        tokio::select! {
            biased;
            () = lost(leadership.as_ref()) => {
                join_all(controllers.into_iter().map(Running::abort)).await;
                // One that is to be handed over is given back only now.
                if let Some(leadership) = leadership {
                    leadership.release().await;
                }
                return Err(ManagerError::LeadershipLost);
            }
            () = stop.cancelled() => {}
        }
        let drained = tokio::select! {
            biased;
            // What is still under way is dropped.
            () = lost(leadership.as_ref()) => return Err(ManagerError::LeadershipLost),
            drained = drain(controllers, self.limits.stop) => drained,
        };
        // Released after the last reconcile, also if it did not end in time: the next leader must not work beside it.
        if let Some(leadership) = leadership {
            leadership.release().await;
        }
        drained
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager")
            .field("controllers", &self.controllers)
            .field("elector", &self.elector)
            .finish_non_exhaustive()
    }
}

/// Completes when the leadership is lost; never, if there is no election.
pub(crate) async fn lost(leadership: Option<&Leadership>) {
    match leadership {
        Some(leadership) => leadership.lost().await,
        None => std::future::pending().await,
    }
}

/// Ends the controllers in good order.
pub(crate) async fn drain(controllers: Vec<Running>, limit: Duration) -> Result<(), ManagerError> {
    let ends = controllers.into_iter().map(async |controller| {
        let name = Arc::clone(controller.name());
        (!controller.shutdown(limit).await).then_some(name)
    });
    let late: Vec<_> = join_all(ends).await.into_iter().flatten().collect();
    if late.is_empty() {
        return Ok(());
    }
    Err(ManagerError::NotDrained {
        controllers: late,
        limit,
    })
}

// === impl Runnable ===

impl Runnable {
    /// Runs this controller alone, in a task of its own, until it is shut down or dropped: for tests.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # use informer::{controller::{Controller, Runnable}, workqueue::Action};
    /// # use k8s_openapi::api::core::v1::ConfigMap;
    /// # fn controller() -> Runnable {
    /// #     Controller::<ConfigMap>::new("idle").reconcile(async |_, _| Ok::<_, kube::Error>(Action::AwaitChange))
    /// # }
    /// #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// async fn main() -> Result<(), informer::Error> {
    ///     let server = fakeserver::FakeServer::builder().build();
    ///     let running = controller().run_in(server.client());
    ///     // Objects are created, changed and deleted; then, whatever has to be done:
    ///     running.settle().await?;
    ///     // What the server has now is what the controller makes of it.
    ///     running.shutdown().await?;
    ///     Ok(())
    /// }
    /// ```
    pub fn run_in(self, client: Client) -> RunningManager {
        Manager::new(client).with_controller(self).start()
    }
}

// === impl RunningManager ===

impl RunningManager {
    /// Returns its health.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Waits until the controllers have nothing left to do: nothing queued, under way, to be tried again, or due within a minute, with caches that are
    /// as new as the server is, and no change received meanwhile.
    ///
    /// Meant for tokio's paused clock, where it takes no time: where nothing is written, a cache learns that it is up to date only by
    /// the server's next bookmark, about a minute later.
    ///
    /// # Errors
    ///
    /// There was something to do for an hour: controllers undo what others do, say, or a reconcile fails each time. Or the manager
    /// has ended.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn settle(&self) -> Result<(), SettleError> {
        let (mut running, mut ended) = (self.running.clone(), self.running.clone());
        let settled = async {
            let controllers = running
                .wait_for(|controllers| !controllers.is_empty())
                .await;
            let controllers = controllers.map_err(|_| SettleError::Ended)?.clone();
            settle(&controllers, SETTLE_LIMIT).await
        };
        tokio::select! {
            biased;
            settled = settled => settled,
            () = async { while ended.changed().await.is_ok() {} } => Err(SettleError::Ended),
        }
    }

    /// Ends in good order, and returns how the manager ended.
    ///
    /// # Errors
    ///
    /// As of [`Manager::run`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once.
    pub async fn shutdown(self) -> Result<(), ManagerError> {
        self.background.shutdown().await
    }
}

impl fmt::Debug for RunningManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningManager")
            .field("health", &self.health)
            .finish_non_exhaustive()
    }
}
