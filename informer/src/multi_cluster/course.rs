//! The controllers of one cluster, from the first attempt until it is removed.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::Cluster;
use crate::{
    backoff::{Backoff, BackoffOptions},
    controller::Runnable,
    entropy,
    manager::{Manager, ManagerError, RunLimits},
};

/// Makes the controller of a cluster.
pub(super) type MakeController = Box<dyn Fn(&Cluster) -> Runnable + Send + Sync>;

/// The parts that all clusters share.
pub(super) struct Setup {
    pub(super) controllers: Vec<MakeController>,
    pub(super) limits: RunLimits,
    pub(super) backoff: BackoffOptions,
}

// === impl Setup ===

impl Setup {
    /// Runs the controllers in a cluster until `stop`, with new caches after each failure.
    ///
    /// # Errors
    ///
    /// The controllers do not end in time at the stop.
    ///
    /// # Cancel safety
    ///
    /// If dropped, everything ends at once.
    pub(super) async fn serve(
        self: Arc<Self>,
        cluster: Cluster,
        stop: CancellationToken,
    ) -> Result<(), ManagerError> {
        let seed = entropy::seed() ^ entropy::fnv1a(cluster.name());
        let mut backoff = Backoff::new(self.backoff.clone(), seed);
        loop {
            let manager = self.manager(&cluster);
            info!(cluster = %cluster.name(), "begun");
            cluster.begin(manager.health());
            let ended = Box::pin(manager.run(stop.clone())).await;
            let Err(error) = ended else {
                return Ok(());
            };
            if stop.is_cancelled() {
                warn!(cluster = %cluster.name(), %error, "what was under way is dropped");
                return Err(error);
            }
            let delay = backoff.next_delay(None);
            warn!(cluster = %cluster.name(), %error, ?delay, "ended; it is tried again after the delay");
            cluster.fail(error);
            if stop
                .run_until_cancelled(tokio::time::sleep(delay))
                .await
                .is_none()
            {
                return Ok(());
            }
        }
    }

    fn manager(&self, cluster: &Cluster) -> Manager {
        let manager = Manager::new(cluster.client().clone())
            .in_cluster(cluster.name())
            .with_limits(self.limits);
        let controllers = self.controllers.iter();
        controllers.fold(manager, |manager, make| {
            manager.with_controller(make(cluster))
        })
    }
}
