//! Handlers that want resyncs get them in time.
//!
//! Resyncs follow the informer's own clock: neither an outage nor a relist postpones them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::Finding;
use crate::{
    checkers::clock_leaps::ClockLeaps,
    trace::{Key, NotifiedChange, Observation, Phase, Trace, seconds},
};

/// The tolerated delay of a resync.
const SLACK: Duration = Duration::from_secs(1);

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut handlers: BTreeMap<(usize, usize), Handler> = BTreeMap::new();
    let mut slow = BTreeSet::new();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        if leaps.observe(at, observation) {
            // No notification was possible while the machine was asleep.
            let last_notified = handlers
                .values_mut()
                .flat_map(|handler| handler.last_notified.values_mut());
            last_notified.for_each(|last_notified| *last_notified = at);
        }
        match observation {
            Observation::HandlerJoins {
                informer,
                handler,
                is_slow: true,
                ..
            } => {
                slow.insert((*informer, *handler));
            }
            // One that is due before a slow handler was through the last is skipped.
            Observation::ResyncWanted {
                informer, handler, ..
            } if slow.contains(&(*informer, *handler)) => {}
            Observation::ResyncWanted {
                informer,
                handler,
                period,
            } => {
                let handler = (*informer, *handler);
                handlers.insert(handler, Handler::new(*period));
            }
            Observation::Notified(notified) => {
                let place = (notified.informer, notified.handler);
                let Some(handler) = handlers.get_mut(&place) else {
                    continue;
                };
                let late = handler.late(at, Some(&notified.key));
                findings
                    .extend(late.map(|text| Finding::at(number, format!("{notified}: {text}"))));
                match notified.change {
                    NotifiedChange::Deleted { .. } => handler.last_notified.remove(&notified.key),
                    _ => handler.last_notified.insert(notified.key.clone(), at),
                };
            }
            Observation::HandlerLeaves { informer, handler } => {
                let left = handlers.remove(&(*informer, *handler));
                let late = left.and_then(|handler| handler.late(at, None));
                let who = format!("handler {informer}.{handler}");
                findings.extend(late.map(|text| Finding::at(number, format!("{who}: {text}"))));
            }
            Observation::Phase(Phase::Shutdown) => {
                for ((informer, handler), own) in std::mem::take(&mut handlers) {
                    let late = own.late(at, None);
                    let who = format!("handler {informer}.{handler}");
                    findings.extend(late.map(|text| Finding::at(number, format!("{who}: {text}"))));
                }
            }
            _ => {}
        }
    }
    findings
}

/// A handler that wants resyncs.
struct Handler {
    period: Duration,
    /// The time of the last notification about each key.
    last_notified: BTreeMap<Key, Duration>,
}

// === impl Handler ===

impl Handler {
    fn new(period: Duration) -> Self {
        Self {
            period,
            last_notified: BTreeMap::new(),
        }
    }

    /// Describes a key (or `key`) without a notification for too long.
    fn late(&self, now: Duration, key: Option<&Key>) -> Option<String> {
        let (key, last) = self
            .last_notified
            .iter()
            .filter(|(own, _)| key.is_none_or(|key| key == *own))
            .find(|(_, last)| now.saturating_sub(**last) > self.period * 2 + SLACK)?;
        Some(format!(
            "was not notified of {key} since {} s, although its resync period is {} s",
            seconds(*last),
            seconds(self.period)
        ))
    }
}
