//! One leader writes at a time.

use std::time::Duration;

use super::Case;
use crate::{
    finding::{Finding, Promise},
    trace::{Event, Write},
};

/// The time that a leader has to notice that it is none any more, once it could: a request may be under way.
const GRACE: Duration = Duration::from_millis(400);

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let trace = &case.outcome.trace;
    let mut findings: Vec<Finding> = Vec::new();
    for write in trace.writes.iter().filter(|write| !write.is_background) {
        let own = case.outcome.identities.get(write.replica);
        let Some(own) = own.filter(|own| !own.is_empty()) else {
            continue;
        };
        let is_held = write.lease_holders.iter().any(|holder| !holder.is_empty());
        let holds = write
            .lease_holders
            .iter()
            .any(|holder| own.contains(holder));
        if !is_held || holds || is_soon(case, write) {
            continue;
        }
        let text = format!(
            "replica {} wrote {} while another one held the lease",
            write.replica, write.point.key
        );
        if !findings.iter().any(|known| known.text == text) {
            findings.push(Finding::new(Promise::Leaders, text).at(write.at));
        }
    }
    findings
}

/// Returns whether a write comes within the grace after the replica was woken or started, or after another one took the lease.
fn is_soon(case: &Case<'_>, write: &Write) -> bool {
    let trace = &case.outcome.trace;
    let since = |at: Duration| write.at >= at && write.at < at + GRACE;
    let is_woken = trace.events.iter().any(|(at, event)| match event {
        Event::Woken { replica } => *replica == write.replica && since(*at),
        _ => false,
    });
    let earlier = trace.writes.iter().filter(|it| it.at <= write.at);
    let mut taken = Duration::ZERO;
    let mut last = None;
    for lease in earlier.filter(|it| it.point.key.resource == "leases.coordination.k8s.io") {
        if last != Some(lease.replica) {
            taken = lease.at;
            last = Some(lease.replica);
        }
    }
    is_woken || since(taken)
}
