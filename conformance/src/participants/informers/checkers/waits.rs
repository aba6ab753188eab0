//! A wait for a version ends when the cache shows that version, and not before.

use std::{collections::BTreeMap, time::Duration};

use super::Finding;
use crate::trace::{Observation, Trace};

/// A wait in progress.
struct Wait {
    revision: u64,
    /// The time at which the cache was first seen at the version.
    shown_at: Option<Duration>,
}

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut waits: BTreeMap<(usize, usize), Wait> = BTreeMap::new();
    for (number, (at, observation)) in trace.timed().enumerate() {
        match observation {
            Observation::WaitBegins {
                informer,
                wait,
                revision,
            } => {
                let begun = Wait {
                    revision: *revision,
                    shown_at: None,
                };
                waits.insert((*informer, *wait), begun);
            }
            Observation::WaitEnds {
                informer,
                wait,
                shown,
            } => {
                if let Some(Wait { revision, .. }) = waits.remove(&(*informer, *wait))
                    && shown.is_none_or(|shown| shown < revision)
                {
                    let shown = shown.map_or_else(|| "none".to_owned(), |shown| shown.to_string());
                    findings.push(Finding::at(
                        number,
                        format!("a wait of informer {informer} for {revision} ends at {shown}"),
                    ));
                }
            }
            Observation::Cached {
                informer,
                revision: Some(shown),
                ..
            } => waits.retain(|(of, _), wait| {
                if of != informer || wait.revision > *shown {
                    return true;
                }
                // From the first look on: the task of a wait is woken only after the cache shows the version.
                let shown_at = *wait.shown_at.get_or_insert(at);
                let is_late = shown_at + trace.lateness() < at;
                if is_late {
                    let revision = wait.revision;
                    findings.push(Finding::at(
                        number,
                        format!("a wait of informer {informer} for {revision} goes on at {shown}"),
                    ));
                }
                !is_late
            }),
            _ => {}
        }
    }
    findings
}
