//! The state of the server that every page shows.

use std::{collections::VecDeque, time::Duration};

use fakeserver_kinds::storage_of;
use serde::Serialize;
use tokio::time::Instant;

use crate::server::assembly::Server;

/// The maximum number of rows of watches that are sent.
const WATCHES_MAX: usize = 200;
/// The time over which a rate is taken.
const RATE_PERIOD: Duration = Duration::from_secs(1);
/// The maximum number of samples of a rate.
const SAMPLES_MAX: usize = 16;

/// The counts of the server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counts {
    revision: u64,
    watches: usize,
    unseen_changes: usize,
    requests: u64,
    requests_per_second: u64,
}

/// A resource with the number of its objects.
#[derive(Debug, Serialize)]
pub(super) struct ResourceCount {
    group: String,
    resource: String,
    kind: String,
    namespaced: bool,
    count: usize,
}

/// The open watches by client and resource.
#[derive(Debug, Serialize)]
pub(super) struct Watches {
    rows: Vec<WatchesOfClient>,
    /// The number of rows that are not sent.
    more: usize,
}

#[derive(Debug, Serialize)]
struct WatchesOfClient {
    client: String,
    group: String,
    resource: String,
    count: usize,
}

/// The rate of a number that grows, over about a second.
#[derive(Debug, Default)]
pub(super) struct Rate {
    samples: VecDeque<(Instant, u64)>,
}

// === impl Counts ===

impl Counts {
    /// Returns the current counts of `server`, and adds its request count to `rate` as a sample.
    pub(super) fn of(server: &Server, rate: &mut Rate, now: Instant) -> Self {
        let stats = server.stats();
        let verbs = stats.requests.values();
        let requests = verbs.flat_map(|verbs| verbs.values()).sum();
        Self {
            revision: stats.revision,
            watches: stats.watchers,
            unseen_changes: stats.unseen_changes,
            requests,
            requests_per_second: rate.sample(now, requests),
        }
    }
}

// === impl ResourceCount ===

impl ResourceCount {
    /// Returns the resources of `server` that have objects, in the order of discovery.
    ///
    /// All counts are of one state. The cost grows with the number of resources, not with that of objects.
    pub(super) fn all(server: &Server) -> Vec<Self> {
        let backend = server.backend();
        let registry = backend.registry();
        let mut seen = Vec::new();
        let mut found = Vec::new();
        backend.storage.view(|view| {
            for group in registry.groups() {
                let versions = group.versions.iter();
                for resource in versions.flat_map(|version| &version.resources) {
                    let names = (&resource.group, &resource.plural);
                    if seen.contains(&names) {
                        continue;
                    }
                    seen.push(names);
                    let stored = storage_of(&resource.group, &resource.plural);
                    let count = view.snapshot(&stored).count();
                    if count > 0 {
                        found.push(Self {
                            group: resource.group.to_string(),
                            resource: resource.plural.to_string(),
                            kind: resource.kind.to_string(),
                            namespaced: resource.is_namespaced,
                            count,
                        });
                    }
                }
            }
        });
        found
    }
}

// === impl Watches ===

impl Watches {
    pub(super) fn of(server: &Server) -> Self {
        let counts = server.backend().watchers.by_client();
        let more = counts.len().saturating_sub(WATCHES_MAX);
        let rows = counts.into_iter().take(WATCHES_MAX);
        let rows = rows.map(|((client, resource), count)| WatchesOfClient {
            client: client.into(),
            group: resource.group().to_owned(),
            resource: resource.resource().to_owned(),
            count,
        });
        Self {
            rows: rows.collect(),
            more,
        }
    }
}

// === impl Rate ===

impl Rate {
    /// Adds a sample, and returns the growth per second. A decrease means that the counter restarted.
    pub(super) fn sample(&mut self, now: Instant, number: u64) -> u64 {
        if self.samples.back().is_some_and(|(_, last)| *last > number) {
            self.samples.clear();
        }
        self.samples.push_back((now, number));
        // The oldest sample is kept until the next one is at least a period old.
        while self.samples.len() > SAMPLES_MAX
            || self
                .samples
                .get(1)
                .is_some_and(|(time, _)| now.duration_since(*time) >= RATE_PERIOD)
        {
            self.samples.pop_front();
        }
        let (time, before) = self.samples[0];
        let elapsed_ms = now.duration_since(time).max(RATE_PERIOD).as_millis();
        let growth = u128::from(number - before) * 1_000 / elapsed_ms;
        u64::try_from(growth).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_last_second() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut rate = Rate::default();
        assert_eq!(rate.sample(at(0), 100), 0);
        assert_eq!(rate.sample(at(500), 110), 10);
        assert_eq!(rate.sample(at(1_000), 120), 20);
        assert_eq!(rate.sample(at(2_000), 120), 0);
        // A sample that comes late.
        assert_eq!(rate.sample(at(6_000), 160), 10);
        // A reset.
        assert_eq!(rate.sample(at(6_250), 3), 0);
        assert_eq!(rate.sample(at(6_500), 7), 4);
        assert!(rate.samples.len() <= SAMPLES_MAX);
    }
}
