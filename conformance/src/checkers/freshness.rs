//! What the server told before this moment is in the cache, and its version says so.
//!
//! Whoever waits for a version (his own write, say) waits for changes and bookmarks alike.

use super::{
    Finding,
    heard::{Heard, Leaps},
};
use crate::{
    model::Model,
    trace::{Observation, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut heard = Heard::default();
    let mut leaps = Leaps::default();
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
                format!("cache {informer} stands at {shown}, although the server told {told}"),
            ));
        }
        heard.observe(at, observation);
    }
    findings
}
