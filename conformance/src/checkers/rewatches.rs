//! A watch resumes exactly where the last one stopped: at the last state, change or bookmark.
//!
//! From an older version the server would repeat events, and report sooner that it has expired; from a newer one
//! changes would be lost. An expired version is not used again before a whole state has arrived.

use super::{
    Finding,
    deliveries::{ClockLeaps, Deliveries},
};
use crate::trace::{Observation, RequestKind, Trace};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut heard = Deliveries::default();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        leaps.observe(at, observation);
        if let Observation::Request {
            informer,
            kind:
                RequestKind::Watch {
                    revision,
                    is_streaming_list: false,
                },
            ..
        } = observation
        {
            let told = heard.of(*informer);
            let asked: Option<u64> = revision.parse().ok();
            // An informer that wakes up may abandon a silent stream before it has read the events of that moment.
            if told.expired_at.is_some_and(|when| leaps.is_waking(when)) {
                told.expired_at = None;
            }
            let may_be_unread = told.may_be_unread(&leaps)
                && asked.is_some()
                && told.read(at, &leaps) <= asked
                && asked <= told.version;
            let wrong = if told.expired_at.is_some() {
                Some("although that has expired".to_owned())
            } else if may_be_unread
                || (asked.is_some() && (asked == told.version || asked == told.before_look))
            {
                None
            } else {
                let version = told.version.map(|version| version.to_string());
                let version = version.unwrap_or_else(|| "nothing".to_owned());
                Some(format!("although the server had sent {version} last"))
            };
            let shown = |wrong| {
                let text = format!("informer {informer} watches from {revision:?} {wrong}");
                Finding::at(number, text)
            };
            findings.extend(wrong.map(shown));
        }
        heard.observe(at, observation);
    }
    findings
}
