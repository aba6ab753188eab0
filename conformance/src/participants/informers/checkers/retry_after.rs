//! No request comes before the time that a refusal named: the longer one, if its header and its status differ.

use super::{Finding, refusals::Refusals};
use crate::trace::{Observation, Trace, seconds};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut refusals = Refusals::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        if let Observation::Request { informer, .. } = observation
            && let Some(until) = refusals.take(*informer).filter(|until| at < *until)
        {
            findings.push(Finding::at(
                number,
                format!(
                    "informer {informer} asks again, although it is to wait until {} s",
                    seconds(until)
                ),
            ));
        }
        refusals.observe(at, observation);
    }
    findings
}
