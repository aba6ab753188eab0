//! The loop that checks APIs when they are due.

use futures::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::{Instant, sleep_until};

use super::{Aggregator, check::check, schedule::Schedule};
use crate::write::Backend;

/// Checks the aggregated APIs, several at once, until the task is stopped. Without such APIs it sleeps.
pub(super) async fn run(aggregator: &Aggregator, backend: &Backend) {
    let mut schedule = Schedule::default();
    let mut checks = FuturesUnordered::new();
    loop {
        let now = Instant::now();
        for name in aggregator.read(&backend.storage, super::table::Table::take_dirty) {
            schedule.add(name, now);
        }
        for name in schedule.take(now) {
            checks.push(async move {
                let next = check(aggregator, backend, &name).await;
                (name, next)
            });
        }
        let next = schedule.next();
        let due = async {
            match next {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            // A check that is done makes room for others.
            Some((name, next)) = checks.next() => schedule.done(&name, next, Instant::now()),
            () = aggregator.arrived.notified() => {}
            () = due => {}
        }
    }
}
