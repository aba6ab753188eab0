//! The cache is updated before handlers are notified: during a notification it shows the change, or a later one.

use super::Finding;
use crate::{
    model::{History, Model},
    trace::{HandlerNotification, NotifiedChange, Observation, Trace},
};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
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

fn behind(notified: &HandlerNotification, history: &History) -> Option<&'static str> {
    let notified_state = notified.state()?;
    match (&notified.change, &notified.cached) {
        (NotifiedChange::Added { .. } | NotifiedChange::Updated { .. }, Some(cached)) => {
            (cached.revision < notified_state.revision).then_some("the cache is behind the handler")
        }
        (NotifiedChange::Added { .. } | NotifiedChange::Updated { .. }, None) => history
            .departure_after(&notified.key, notified_state.revision)
            .is_none()
            .then_some("the cache does not know of it"),
        (NotifiedChange::Deleted { .. }, Some(cached)) => {
            (cached.revision <= notified_state.revision).then_some("the cache still holds it")
        }
        (NotifiedChange::Deleted { .. }, None) => None,
    }
}
