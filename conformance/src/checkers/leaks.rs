//! No task, watch or body outlives its owner.

use std::collections::BTreeMap;

use super::Finding;
use crate::trace::{Observation, Phase, Trace};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_shutting_down = false;
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut stopped: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, observation) in trace.numbered() {
        match observation {
            Observation::Phase(phase) => is_shutting_down = *phase == Phase::Shutdown,
            Observation::Answer { request, .. } => {
                open.insert(*request, number);
            }
            Observation::Ended { request, .. } => {
                open.remove(request);
            }
            Observation::InformerStopped {
                informer,
                task_count,
            } => {
                stopped.insert(*informer, number);
                if *task_count > 0 {
                    findings.push(Finding::at(number, observation.to_string()));
                }
            }
            Observation::Request { informer, .. } if stopped.contains_key(informer) => {
                findings.push(Finding::at(
                    number,
                    format!("{observation} after it stopped"),
                ));
            }
            Observation::Notified(notified) if stopped.contains_key(&notified.informer) => {
                findings.push(Finding::at(number, format!("{notified} after it stopped")));
            }
            Observation::OpenWatches {
                count,
                informer_count,
            } => {
                let allowed = if is_shutting_down { 0 } else { *informer_count };
                if *count > allowed {
                    findings.push(Finding::at(number, observation.to_string()));
                }
            }
            Observation::TasksLeft { count } if *count > 0 => {
                findings.push(Finding::at(number, observation.to_string()));
            }
            _ => {}
        }
    }
    if is_shutting_down {
        let left = open.iter().map(|(request, number)| {
            Finding::at(
                *number,
                format!("the body of request {request} was never ended or dropped"),
            )
        });
        findings.extend(left);
    }
    findings
}
