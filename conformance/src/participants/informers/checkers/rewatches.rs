//! A watch resumes exactly where the last one stopped: at the last state, change or bookmark.
//!
//! From an older version the server would repeat events, and report sooner that it has expired; from a newer one
//! changes would be lost. An expired version is not used again before a whole state has arrived.

use super::{Finding, deliveries::Deliveries};
use crate::{
    checkers::clock_leaps::ClockLeaps,
    trace::{Observation, RequestKind, Trace},
};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut all_deliveries = Deliveries::default();
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
            let delivered = all_deliveries.of(*informer);
            let requested: Option<u64> = revision.parse().ok();
            // An informer that wakes up may abandon a silent stream before it has read the events of that moment.
            if delivered
                .expired_at
                .is_some_and(|when| leaps.is_waking(when))
            {
                delivered.expired_at = None;
            }
            let may_be_unread = delivered.may_be_unread(&leaps)
                && requested.is_some()
                && delivered.read(at, &leaps) <= requested
                && requested <= delivered.version;
            let wrong = if delivered.expired_at.is_some() {
                Some("although that has expired".to_owned())
            } else if may_be_unread
                || (requested.is_some()
                    && (requested == delivered.version || requested == delivered.before_look))
            {
                None
            } else {
                let version = delivered.version.map(|version| version.to_string());
                let version = version.unwrap_or_else(|| "nothing".to_owned());
                Some(format!("although the server had sent {version} last"))
            };
            let finding = |wrong| {
                let text = format!("informer {informer} watches from {revision:?} {wrong}");
                Finding::at(number, text)
            };
            findings.extend(wrong.map(finding));
        }
        all_deliveries.observe(at, observation);
    }
    findings
}
