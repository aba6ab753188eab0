//! The pauses before a daemon set replaces pods that fail again and again on a node. A pure core.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

/// The pause after the first failure, which each other one doubles, and the longest one.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(15);
/// The time without a failure after which the next one is the first again.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(30);

/// The pauses of a daemon set, by node.
///
/// # Memory
///
/// An entry for each node on which a pod has failed.
#[derive(Debug, Default)]
pub(super) struct Pauses(BTreeMap<String, Pause>);

#[derive(Clone, Copy, Debug)]
struct Pause {
    /// The generation of the set whose pods failed. Those of another one are no reason to wait.
    generation: i64,
    length: Duration,
    since: Instant,
}

// === impl Pauses ===

impl Pauses {
    /// Returns how long a failed pod has to stay on a node; zero if it may be replaced now, which begins the next pause.
    pub(super) fn left(&mut self, node: &str, generation: i64, now: Instant) -> Duration {
        let current = self.0.get(node).filter(|current| {
            current.generation == generation && now - current.since <= FORGOTTEN_AFTER
        });
        let left = current.map(|current| current.length.saturating_sub(now - current.since));
        if let Some(left) = left.filter(|left| !left.is_zero()) {
            return left;
        }
        let pause = Pause {
            generation,
            length: current.map_or(FIRST, |current| LONGEST.min(current.length * 2)),
            since: now,
        };
        self.0.insert(node.to_owned(), pause);
        Duration::ZERO
    }

    /// Forgets the nodes that are gone.
    pub(super) fn retain(&mut self, is_there: impl Fn(&str) -> bool) {
        self.0.retain(|node, _| is_there(node));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_failure_doubles_the_pause_before_the_next_replacement() {
        let mut pauses = Pauses::default();
        let mut now = Instant::now();
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            let length = Duration::from_secs(seconds);
            assert_eq!(pauses.left("n", 1, now), Duration::ZERO);
            assert_eq!(pauses.left("n", 1, now), length);
            now += length;
        }
        assert_eq!(pauses.left("other", 1, now), Duration::ZERO);
        assert_eq!(pauses.left("n", 1, now), Duration::ZERO);
        assert_eq!(pauses.left("n", 2, now), Duration::ZERO, "another template");
        assert_eq!(pauses.left("n", 2, now), FIRST);
        now += FORGOTTEN_AFTER + FIRST;
        assert_eq!(pauses.left("n", 2, now), Duration::ZERO);
        assert_eq!(pauses.left("n", 2, now), FIRST);
        pauses.retain(|node| node != "n");
        assert_eq!(pauses.left("n", 2, now), Duration::ZERO);
    }
}
