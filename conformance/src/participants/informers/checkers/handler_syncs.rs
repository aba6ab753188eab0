//! A handler has synced once it was notified of the whole initial state: not before, for good, and not never.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::trace::{NotifiedChange, Observation, Phase, Trace};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut syncs: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    let mut left = BTreeSet::new();
    let mut has_converged = false;
    for (number, observation) in trace.numbered() {
        match observation {
            Observation::HandlerSync {
                informer,
                handler,
                has_synced,
            } => {
                let before = syncs.insert((*informer, *handler), *has_synced);
                if before == Some(true) {
                    let text = format!("handler {informer}.{handler} has not synced any more");
                    findings.push(Finding::at(number, text));
                }
            }
            Observation::Notified(notified) => {
                let place = (notified.informer, notified.handler);
                let is_initial = matches!(
                    notified.change,
                    NotifiedChange::Added {
                        is_initial: true,
                        ..
                    }
                );
                if is_initial && syncs.get(&place) == Some(&true) {
                    let text = format!("{notified}: after it had synced");
                    findings.push(Finding::at(number, text));
                }
            }
            Observation::HandlerLeaves { informer, handler } => {
                left.insert((*informer, *handler));
            }
            Observation::Phase(Phase::Converged) => has_converged = true,
            _ => {}
        }
    }
    // Only if the caches converged: otherwise `convergence` reports the run.
    let never = syncs
        .iter()
        .filter(|(place, has_synced)| !**has_synced && !left.contains(*place) && has_converged);
    findings.extend(never.map(|((informer, handler), _)| {
        Finding::whole(format!("handler {informer}.{handler} never synced"))
    }));
    findings
}
