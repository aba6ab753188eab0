//! The cache and its version include all earlier deliveries of the server.
//!
//! A caller that waits for a version (of its own write, for example) depends on changes and bookmarks alike.

use super::{Finding, deliveries::Deliveries};
use crate::{
    checkers::clock_leaps::ClockLeaps,
    trace::{Observation, Trace},
};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut all_deliveries = Deliveries::default();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        leaps.observe(at, observation);
        if let Observation::Cached {
            informer, revision, ..
        } = observation
            && !leaps.is_waking(at)
            && let Some(version) = all_deliveries.of(*informer).read(at, &leaps)
            && revision.is_none_or(|revision| revision < version)
        {
            let shown = revision.map_or_else(|| "none".to_owned(), |shown| shown.to_string());
            findings.push(Finding::at(
                number,
                format!(
                    "cache {informer} stands at {shown}, although the server had sent {version}"
                ),
            ));
        }
        all_deliveries.observe(at, observation);
    }
    findings
}
