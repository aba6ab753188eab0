//! The task of a cluster: a tick every tenth of a second, in which everything happens that is due.

use std::{
    convert::Infallible,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};
use tracing::debug;

use super::{SimulatedCluster, churn::TICK_MILLISECONDS, print::Printer};
use crate::state::{Core, Server};

const TICK: Duration = Duration::from_millis(TICK_MILLISECONDS as u64);

/// Lets things happen in the cluster of `server`, if it has one and they do not yet. It is to be called in a runtime.
pub(crate) fn start(server: &Server) {
    let Some(cluster) = &server.cluster else {
        return;
    };
    let is_alive = cluster.options.churn.writes_per_second > 0;
    let stop = server.tasks.stop_token();
    let is_started = &cluster.is_started;
    if !is_alive
        || stop.is_cancelled()
        || is_started.load(Ordering::Acquire)
        || is_started.swap(true, Ordering::AcqRel)
    {
        return;
    }
    let (core, cluster, stop) = (Arc::clone(&server.core), Arc::clone(cluster), stop.clone());
    server.tasks.spawn(async move {
        debug!("cluster started");
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = run(&core, &cluster) => {}
        }
    });
}

/// Ticks for ever. One that is late is followed by the next at once, so that none is left out.
async fn run(core: &Core, cluster: &SimulatedCluster) {
    let mut next = Instant::now() + TICK;
    loop {
        sleep_until(next).await;
        next += TICK;
        cluster.tick(core);
        tokio::task::yield_now().await;
    }
}

// === impl SimulatedCluster ===

impl SimulatedCluster {
    fn tick(&self, core: &Core) {
        let mut living = self.lock();
        let Some(living) = living.as_mut() else {
            return;
        };
        living.ticks += 1;
        let since = i64::from(TICK_MILLISECONDS) * i64::from(living.ticks);
        let now = living.beginning.as_millisecond().saturating_add(since);
        let done: Result<(), Infallible> = core.storage.transact(|tx| {
            let mut printer = Printer {
                tx,
                stencils: &living.stencils,
                written: 0,
            };
            living.machine.tick(&mut living.world, &mut printer, now);
            Ok(())
        });
        let Ok(()) = done;
    }
}
