//! Faults by which the server itself breaks a promise.
//!
//! A violation in a stream or list that such a fault has touched is *expected of* it: it shows that the checker works,
//! and does not count against the server.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use fakeserver::faults::Fault;

use crate::trace::{Observation, Trace};

/// Faults of a trace, by their places in the plan.
#[derive(Default)]
pub(crate) struct Anomalies(BTreeMap<usize, Anomaly>);

struct Anomaly {
    /// The informer that it hits; `None` for all.
    informer: Option<usize>,
    begins: Duration,
    /// `None` while it is in force.
    ends: Option<Duration>,
}

// === impl Anomalies ===

impl Anomalies {
    /// Finds the faults by which the server breaks a promise.
    pub(crate) fn of(trace: &Trace) -> Self {
        Self::with_names(trace, |name| {
            Fault::named(name).is_some_and(|fault| fault.entry().breaks_promises())
        })
    }

    /// Finds the faults that skip states.
    pub(crate) fn coalescing(trace: &Trace) -> Self {
        Self::with_names(trace, |name| {
            matches!(Fault::named(name), Some(Fault::Coalesce(_)))
        })
    }

    /// Finds the faults and incidents of this name.
    pub(crate) fn named(trace: &Trace, wanted: &str) -> Self {
        Self::with_names(trace, |name| name == wanted)
    }

    fn with_names(trace: &Trace, is_wanted: impl Fn(&str) -> bool) -> Self {
        let mut anomalies = Self::default();
        for (at, observation) in trace.timed() {
            match observation {
                Observation::FaultBegins {
                    fault,
                    name,
                    informer,
                    ..
                } if is_wanted(name) => {
                    // The undone changes are not in the log, with which all streams and lists are compared.
                    let is_rollback = matches!(Fault::named(name), Some(Fault::Rollback(_)));
                    let begins = if is_rollback { Duration::ZERO } else { at };
                    let anomaly = Anomaly {
                        informer: informer.filter(|_| !is_rollback),
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

    /// Returns the first of them that was in force for an informer at some moment of `lived`.
    pub(crate) fn touching(
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
