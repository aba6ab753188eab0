//! Waits until controllers have nothing left to do.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;

use super::SettleError;
use crate::controller::Activity;

/// The time within which something due is waited for; a requeue after ten minutes is not.
const HORIZON: Duration = Duration::from_mins(1);
/// The longest wait of a cache to be as new as the server, before that is asked again: an answer may be lost, and a bookmark takes a
/// minute.
const CATCH_UP_LIMIT: Duration = Duration::from_mins(3);
/// The time between two looks. The clock of tests is paused, so that it takes none.
const INTERVAL: Duration = Duration::from_millis(50);

/// Waits until all controllers are idle with caches that are as new as the server is.
///
/// A round is: idle, all caches catch up, still idle, and no change was received meanwhile.
pub(super) async fn settle(
    controllers: &[(Arc<str>, Activity)],
    limit: Duration,
) -> Result<(), SettleError> {
    let rounds = async {
        loop {
            while !controllers
                .iter()
                .all(|(_, activity)| activity.is_idle(HORIZON))
            {
                tokio::time::sleep(INTERVAL).await;
            }
            let activity_count = activity_count(controllers);
            let caches = controllers
                .iter()
                .flat_map(|(_, activity)| activity.caches());
            let caught_up = join_all(caches.map(|cache| cache.catch_up(CATCH_UP_LIMIT))).await;
            // Handlers are notified a moment later.
            tokio::time::sleep(INTERVAL).await;
            let is_idle = controllers
                .iter()
                .all(|(_, activity)| activity.is_idle(HORIZON));
            if is_idle
                && activity_count == self::activity_count(controllers)
                && caught_up.iter().all(Result::is_ok)
            {
                return;
            }
        }
    };
    let timed = tokio::time::timeout(limit, rounds).await;
    timed.map_err(|_| {
        let busy = controllers
            .iter()
            .filter(|(_, activity)| !activity.is_idle(HORIZON));
        SettleError::Deadline {
            limit,
            busy: busy.map(|(name, _)| Arc::clone(name)).collect(),
        }
    })
}

/// Returns the number of notifications that all controllers have received.
fn activity_count(controllers: &[(Arc<str>, Activity)]) -> u64 {
    controllers
        .iter()
        .map(|(_, activity)| activity.received())
        .sum()
}
