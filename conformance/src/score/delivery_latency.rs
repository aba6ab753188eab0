//! The delay of notifications.

use std::{collections::BTreeMap, time::Duration};

use crate::trace::{Key, Member, Observation, State, Trace};

/// The notification of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeliveredChange {
    /// The delay since the write.
    pub(super) waited: Duration,
    /// The time of the notification.
    pub(super) at: Duration,
    /// The revision of the change.
    pub(super) revision: u64,
}

/// Describes an object in a cache of whose present state a handler was not notified, if there is one.
pub(super) fn missing(trace: &Trace) -> Option<String> {
    let mut states: BTreeMap<(usize, usize), BTreeMap<Key, State>> = BTreeMap::new();
    let mut caches: BTreeMap<usize, &Vec<Member>> = BTreeMap::new();
    for observation in trace.observations() {
        match observation {
            Observation::HandlerJoins {
                informer, handler, ..
            } => {
                states.insert((*informer, *handler), BTreeMap::new());
            }
            Observation::HandlerLeaves { informer, handler } => {
                states.remove(&(*informer, *handler));
            }
            Observation::Notified(notified) => {
                let own = states.get_mut(&(notified.informer, notified.handler));
                let state = notified.state();
                if let (Some(own), Some(state)) = (own, state) {
                    own.insert(notified.key.clone(), state.clone());
                }
            }
            Observation::Cached {
                informer, members, ..
            } => {
                caches.insert(*informer, members);
            }
            _ => {}
        }
    }
    states.iter().find_map(|((informer, handler), own)| {
        let missing = caches
            .get(informer)?
            .iter()
            .find(|member| own.get(&member.key) != Some(&member.state))?;
        Some(format!(
            "handler {informer}.{handler} was never notified of {missing}"
        ))
    })
}

/// Returns the notification of the first informer's first handler about a pod with the longest delay.
pub(super) fn slowest(trace: &Trace) -> Option<DeliveredChange> {
    let mut written: BTreeMap<u64, Duration> = BTreeMap::new();
    let mut worst: Option<DeliveredChange> = None;
    for (at, observation) in trace.timed() {
        match observation {
            Observation::Operation {
                text,
                revision: Some(revision),
                ..
            } if text.contains("/pods/") && !text.ends_with("GET") => {
                written.insert(*revision, at);
            }
            Observation::Notified(notified) if (notified.informer, notified.handler) == (0, 0) => {
                let revision = notified.state().map_or(0, |state| state.revision);
                let Some(when) = written.remove(&revision) else {
                    continue;
                };
                let waited = at.saturating_sub(when);
                if worst.is_none_or(|worst| waited > worst.waited) {
                    worst = Some(DeliveredChange {
                        waited,
                        at,
                        revision,
                    });
                }
            }
            _ => {}
        }
    }
    worst
}
