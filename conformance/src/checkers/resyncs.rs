//! A handler that wants to hear of everything again from time to time does.
//!
//! Resyncs come by the informer's own clock: neither an outage nor a relist postpones them.

use std::{collections::BTreeMap, time::Duration};

use super::{Finding, heard::Leaps};
use crate::{
    model::Model,
    trace::{Heard, Key, Observation, Phase, Trace, seconds},
};

/// How much later than due a resync may come.
const SLACK: Duration = Duration::from_secs(1);

/// See the [module](self).
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut handlers: BTreeMap<(usize, usize), Handler> = BTreeMap::new();
    let mut leaps = Leaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        if leaps.observe(at, observation) {
            // Nobody could be told while the machine slept.
            let told = handlers
                .values_mut()
                .flat_map(|handler| handler.told.values_mut());
            told.for_each(|told| *told = at);
        }
        match observation {
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
                match notified.heard {
                    Heard::Deleted { .. } => handler.told.remove(&notified.key),
                    _ => handler.told.insert(notified.key.clone(), at),
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
    /// When it last heard of each key.
    told: BTreeMap<Key, Duration>,
}

// === impl Handler ===

impl Handler {
    fn new(period: Duration) -> Self {
        Self {
            period,
            told: BTreeMap::new(),
        }
    }

    /// Of which of its keys, or of `key` only, it has not heard for too long.
    fn late(&self, now: Duration, key: Option<&Key>) -> Option<String> {
        let (key, last) = self
            .told
            .iter()
            .filter(|(own, _)| key.is_none_or(|key| key == *own))
            .find(|(_, last)| now.saturating_sub(**last) > self.period * 2 + SLACK)?;
        Some(format!(
            "heard nothing of {key} since {} s, although it wants to every {} s",
            seconds(*last),
            seconds(self.period)
        ))
    }
}
