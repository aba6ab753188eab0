//! Earlier deliveries of the server are in the cache, and its version says so.
//!
//! A caller that waits for a version (of its own write, for example) depends on changes and bookmarks alike.

use super::{
    Finding,
    deliveries::{ClockLeaps, Deliveries},
};
use crate::trace::{Observation, Trace};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut heard = Deliveries::default();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        leaps.observe(at, observation);
        if let Observation::Cached {
            informer, revision, ..
        } = observation
            && !leaps.is_waking(at)
            && let Some(told) = heard.of(*informer).read(at, &leaps)
            && revision.is_none_or(|revision| revision < told)
        {
            let shown = revision.map_or_else(|| "none".to_owned(), |shown| shown.to_string());
            findings.push(Finding::at(
                number,
                format!("cache {informer} stands at {shown}, although the server had sent {told}"),
            ));
        }
        heard.observe(at, observation);
    }
    findings
}
