//! One shard of one copy: waits until it is this copy's turn, owns the shard, and hands it over.

use std::sync::Arc;

use futures::future::{join_all, try_join_all};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{Ownership, fence::fenced, machine::Plan};
use crate::{
    controller::{CacheSource, FollowedCache, OwnedShard, PreparedController, Runnable, Running},
    factory::SharedInformerFactory,
    leader_election::{LeaderElector, Leadership, Observation},
    manager::{ManagerError, RunLimits, drain},
    shard::Shard,
};

/// Makes a controller for each shard that is owned.
pub(super) type MakeController = Box<dyn Fn() -> Runnable + Send + Sync>;

/// The parts that the workers of all shards have in common.
pub(super) struct Setup {
    pub(super) client: kube::Client,
    pub(super) factory: SharedInformerFactory,
    pub(super) controllers: Vec<MakeController>,
    pub(super) limits: RunLimits,
    pub(super) ownership: Ownership,
    /// Asks for a round of the membership at once.
    pub(super) round_requested: Arc<Notify>,
    pub(super) stop: CancellationToken,
}

/// The worker of one shard.
pub(super) struct ShardWorker {
    pub(super) setup: Arc<Setup>,
    pub(super) shard: Shard,
    pub(super) elector: LeaderElector,
    pub(super) plans: watch::Receiver<Plan>,
}

/// Shows a shard as owned until it is dropped.
struct OwnedMark<'a>(&'a Ownership, u32);

// === impl ShardWorker ===

impl ShardWorker {
    /// Owns the shard whenever it is assigned to this copy, until the stop.
    pub(super) async fn run(mut self) -> Result<(), ManagerError> {
        while let Some(seen) = self.assigned().await {
            let acquired = tokio::select! {
                biased;
                leadership = self.elector.acquire_after(seen) => Some(leadership),
                () = self.taken_away(Plan::may_take) => None,
            };
            if let Some(leadership) = acquired {
                self.own(leadership).await?;
            }
        }
        Ok(())
    }

    /// Waits until the shard may be taken; returns its lease as it was seen, or `None` at the stop.
    async fn assigned(&mut self) -> Option<Option<Observation>> {
        let index = self.shard.index();
        let stop = &self.setup.stop;
        let plans = &mut self.plans;
        let assigned = stop.run_until_cancelled(plans.wait_for(|plan| plan.may_take(index)));
        let plan = assigned.await?.ok()?;
        Some(plan.leases.get(&index).cloned())
    }

    /// Completes at the stop, or when the shard is no more this copy's by `is_own`.
    async fn taken_away(&self, is_own: fn(&Plan, u32) -> bool) {
        let (index, mut plans) = (self.shard.index(), self.plans.clone());
        let gone = plans.wait_for(|plan| !is_own(plan, index));
        // Without a sender there is no more to come.
        drop(self.setup.stop.run_until_cancelled(gone).await);
    }

    /// Reconciles the objects of the shard until it is lost or taken away.
    async fn own(&self, leadership: Leadership) -> Result<(), ManagerError> {
        // Whatever ends this early, a write may be under way: then the lease has to run out.
        leadership.set_gives_back(false);
        let client = fenced(&self.setup.client, leadership.fence());
        let owned = OwnedShard {
            shard: self.shard,
            fence: leadership.fence(),
        };
        let caches = CacheSource::of_shard(self.setup.factory.clone(), owned);
        let controllers = self.setup.controllers.iter().map(|make| make());
        let prepared: Vec<_> = controllers
            .map(|controller| controller.prepare(&client, &caches))
            .collect();
        let outcome = self.work(&leadership, prepared).await;
        // Without caches, nothing was begun.
        if matches!(outcome, Ok(true) | Err(ManagerError::Sync(_))) {
            leadership.set_gives_back(true);
        }
        // The lease before the caches: the next owner need not wait for the end of this copy's watches.
        leadership.release().await;
        caches.shutdown().await;
        info!(shard = %self.shard, "no longer owned");
        outcome.map(drop)
    }

    /// Returns true if nothing is under way at the end, so that the lease can be given back.
    async fn work(
        &self,
        leadership: &Leadership,
        prepared: Vec<PreparedController>,
    ) -> Result<bool, ManagerError> {
        let caches = prepared.iter().flat_map(PreparedController::caches);
        let caches: Vec<_> = caches.map(Arc::clone).collect();
        tokio::select! {
            biased;
            () = leadership.lost() => return Ok(false),
            () = self.taken_away(Plan::may_take) => return Ok(true),
            ready = self.ready(&caches) => ready?,
        }
        let controllers: Vec<Running> = prepared
            .into_iter()
            .map(PreparedController::start)
            .collect();
        info!(shard = %self.shard, "owned");
        let _mark = OwnedMark::new(&self.setup.ownership, self.shard.index());
        tokio::select! {
            biased;
            () = leadership.lost() => {
                warn!(shard = %self.shard, "lost: what is under way is dropped");
                join_all(controllers.into_iter().map(Running::abort)).await;
                return Ok(false);
            }
            () = self.taken_away(Plan::is_assigned) => {}
        }
        let drained = tokio::select! {
            biased;
            // What is still under way is dropped.
            () = leadership.lost() => return Ok(false),
            drained = drain(controllers, self.setup.limits.stop) => drained,
        };
        match drained {
            Ok(()) => Ok(true),
            Err(error) if self.setup.stop.is_cancelled() => Err(error),
            Err(error) => {
                warn!(shard = %self.shard, %error, "the lease runs out before another copy begins");
                Ok(false)
            }
        }
    }

    /// Waits for the caches, and for a round of the membership after the lease was taken: it may have been taken by an old plan.
    async fn ready(&self, caches: &[Arc<dyn FollowedCache>]) -> Result<(), ManagerError> {
        let acquired = Instant::now();
        self.setup.round_requested.notify_one();
        let synced = caches.iter();
        let synced = synced.map(|cache| cache.wait_for_sync(self.setup.limits.sync));
        try_join_all(synced).await?;
        let mut plans = self.plans.clone();
        let confirmed = plans.wait_for(|plan| plan.begun >= Some(acquired));
        if confirmed.await.is_err() {
            // The manager ends, which is noticed elsewhere.
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

// === impl OwnedMark ===

impl<'a> OwnedMark<'a> {
    fn new(ownership: &'a Ownership, shard: u32) -> Self {
        ownership.begin(shard);
        Self(ownership, shard)
    }
}

impl Drop for OwnedMark<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}
