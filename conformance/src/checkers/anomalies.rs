//! Which faults make the server itself break a promise: what a correct one never does, and what lags behind.
//!
//! A mistake in a stream or list that such a fault has touched is *expected of* it. It is found all the same, which shows
//! that the checker works, but it does not speak against the server.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use crate::trace::{Observation, Trace};

/// Those faults, by the names that they have in reports.
pub(super) const WRONG_ON_PURPOSE: [&str; 10] = [
    "drop_event",
    "duplicate_event",
    "reorder_events",
    "bookmark_ahead",
    "stale_view",
    "lagging_replica",
    "time_travel",
    "coalesce",
    "unobserved",
    ROLLBACK,
];
/// What this takes back is not in the log any more, by which everything is judged.
const ROLLBACK: &str = "rollback";

/// The faults of a trace that are wrong on purpose, by their places in the plan.
#[derive(Default)]
pub(super) struct Anomalies(BTreeMap<usize, Anomaly>);

struct Anomaly {
    /// Whom it hits; everybody if `None`.
    informer: Option<usize>,
    begins: Duration,
    /// `None` while it is in force.
    ends: Option<Duration>,
}

// === impl Anomalies ===

impl Anomalies {
    /// All of them.
    pub(super) fn of(trace: &Trace) -> Self {
        Self::named(trace, &WRONG_ON_PURPOSE)
    }

    /// Those of these names.
    pub(super) fn named(trace: &Trace, names: &[&str]) -> Self {
        let mut anomalies = Self::default();
        for (at, observation) in trace.timed() {
            match observation {
                Observation::FaultBegins {
                    fault,
                    name,
                    informer,
                    ..
                } if names.contains(&name.as_str()) => {
                    let begins = if name == ROLLBACK { Duration::ZERO } else { at };
                    let anomaly = Anomaly {
                        informer: informer.filter(|_| name != ROLLBACK),
                        begins,
                        ends: None,
                    };
                    anomalies.0.insert(*fault, anomaly);
                }
                Observation::FaultEnds { fault } => {
                    if let Some(anomaly) = anomalies.0.get_mut(fault) {
                        anomaly.ends = Some(at);
                    }
                }
                _ => {}
            }
        }
        anomalies
    }

    /// The first of them that was in force for an informer at some moment of `lived`.
    pub(super) fn touching(
        &self,
        informer: usize,
        lived: &RangeInclusive<Duration>,
    ) -> Option<usize> {
        let touches = |anomaly: &Anomaly| {
            anomaly.informer.is_none_or(|hit| hit == informer)
                && anomaly.begins <= *lived.end()
                && anomaly.ends.is_none_or(|ends| ends >= *lived.start())
        };
        let mut touching = self.0.iter().filter(|(_, anomaly)| touches(anomaly));
        touching.next().map(|(fault, _)| *fault)
    }
}
