//! A watch goes on exactly where the last one stopped: at the last state, change or bookmark that the server told.
//!
//! From an older version the server would tell again what was told, and sooner say that it has expired; from a newer one
//! changes would be missed. A version that has expired is not asked for again before a whole state has come.

use super::{
    Finding,
    heard::{Heard, Leaps},
};
use crate::{
    model::Model,
    trace::{Observation, RequestKind, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut heard = Heard::default();
    let mut leaps = Leaps::default();
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
            // Whoever wakes up may give a stream up, for its silence, before he has taken all in that has just come.
            if told.expired_at.is_some_and(|when| leaps.is_waking(when)) {
                told.expired_at = None;
            }
            let may_be_unread = leaps.is_waking(told.at)
                && asked.is_some_and(|asked| {
                    told.read(at, &leaps) <= Some(asked) && Some(asked) <= told.version
                });
            let wrong = if told.expired_at.is_some() {
                Some("although that has expired".to_owned())
            } else if may_be_unread
                || (asked.is_some() && (asked == told.version || asked == told.before_look))
            {
                None
            } else {
                let version = told.version.map(|version| version.to_string());
                let version = version.unwrap_or_else(|| "nothing".to_owned());
                Some(format!("although the server told {version} last"))
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
