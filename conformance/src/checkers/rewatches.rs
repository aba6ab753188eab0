//! A watch goes on exactly where the last one stopped: at the last state, change or bookmark that the server told.
//!
//! From an older version the server would tell again what was told, and sooner say that it has expired; from a newer one
//! changes would be missed. A version that has expired is not asked for again before a whole state has come.

use super::{Finding, heard::Heard};
use crate::{
    model::Model,
    trace::{Observation, RequestKind, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut heard = Heard::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
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
            let asked = revision.parse().ok();
            let wrong = if told.has_expired {
                Some("although that has expired".to_owned())
            } else if asked.is_some() && (asked == told.version || asked == told.before_look) {
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
