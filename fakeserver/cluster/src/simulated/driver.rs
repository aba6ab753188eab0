//! The task of a cluster: a tick every tenth of a second, which runs all due events.

use std::{
    convert::Infallible,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use fakeserver_server::{task::TaskSet, write::Backend};
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use super::{Simulation, churn::TICK_MILLISECONDS, print::Printer};

const TICK: Duration = Duration::from_millis(TICK_MILLISECONDS as u64);

/// Ticks for ever. One that is late is followed by the next at once, so that none is left out.
async fn run(backend: &Backend, cluster: &Simulation) {
    let mut next = Instant::now() + TICK;
    loop {
        sleep_until(next).await;
        next += TICK;
        cluster.tick(backend);
        tokio::task::yield_now().await;
    }
}

// === impl Simulation ===

impl Simulation {
    /// Starts the churn in a task of `tasks`, if there is any and it does not run. It is to be called in a runtime.
    pub(super) fn start_churn(self: &Arc<Self>, backend: &Arc<Backend>, tasks: &TaskSet) {
        let is_alive = self.options.churn.writes_per_second > 0;
        let stop = tasks.stop_token();
        if !is_alive
            || stop.is_cancelled()
            || self.is_started.load(Ordering::Acquire)
            || self.is_started.swap(true, Ordering::AcqRel)
        {
            return;
        }
        let (backend, cluster, stop) = (Arc::clone(backend), Arc::clone(self), stop.clone());
        tasks.spawn(async move {
            debug!("cluster started");
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = run(&backend, &cluster) => {}
            }
        });
    }

    fn tick(&self, backend: &Backend) {
        let mut live = self.lock();
        let Some(live) = live.as_mut() else {
            return;
        };
        live.ticks += 1;
        let since = i64::from(TICK_MILLISECONDS) * i64::from(live.ticks);
        let now = live.beginning.as_millisecond().saturating_add(since);
        let done: Result<(), Infallible> = backend.storage.transact(|tx| {
            let mut printer = Printer {
                tx,
                prototypes: &live.prototypes,
                written: 0,
            };
            live.machine.tick(&mut live.world, &mut printer, now);
            Ok(())
        });
        let Ok(()) = done;
    }
}
