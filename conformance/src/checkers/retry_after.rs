//! No request comes before the time that a refusal named: the longer one, if its header and its status differ.

use std::{collections::BTreeMap, time::Duration};

use super::Finding;
use crate::trace::{Observation, Trace, seconds};

/// The longest wait that a server can demand.
pub(super) const WAIT_MAX: Duration = Duration::from_mins(5);

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut senders: BTreeMap<usize, usize> = BTreeMap::new();
    let mut waits: BTreeMap<usize, Duration> = BTreeMap::new();
    for (number, (at, observation)) in trace.timed().enumerate() {
        match observation {
            Observation::Request {
                informer, request, ..
            } => {
                senders.insert(*request, *informer);
                let until = waits.remove(informer).unwrap_or_default();
                if at < until {
                    findings.push(Finding::at(
                        number,
                        format!(
                            "informer {informer} asks again, although it is to wait until {} s",
                            seconds(until)
                        ),
                    ));
                }
            }
            Observation::AskedToWait { request, wait } => {
                if let Some(informer) = senders.get(request) {
                    let until = waits.entry(*informer).or_default();
                    *until = Duration::max(*until, at + WAIT_MAX.min(*wait));
                }
            }
            _ => {}
        }
    }
    findings
}
