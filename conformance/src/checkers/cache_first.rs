//! The cache is updated before handlers are notified: during a notification it shows the change, or a later one.

use super::Finding;
use crate::{
    model::{History, Model},
    trace::{Heard, Notified, Observation, Trace},
};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, observation) in trace.numbered() {
        if let Observation::Notified(notified) = observation
            && let Some(history) = model.history(notified.informer)
            && let Some(text) = behind(notified, history)
        {
            findings.push(Finding::at(number, format!("{notified}: {text}")));
        }
    }
    findings
}

fn behind(notified: &Notified, history: &History) -> Option<&'static str> {
    let told = notified.state()?;
    match (&notified.heard, &notified.cached) {
        (Heard::Added { .. } | Heard::Updated { .. }, Some(cached)) => {
            (cached.revision < told.revision).then_some("the cache is behind the handler")
        }
        (Heard::Added { .. } | Heard::Updated { .. }, None) => history
            .departure_after(&notified.key, told.revision)
            .is_none()
            .then_some("the cache does not know of it"),
        (Heard::Deleted { .. }, Some(cached)) => {
            (cached.revision <= told.revision).then_some("the cache still holds it")
        }
        (Heard::Deleted { .. }, None) => None,
    }
}
