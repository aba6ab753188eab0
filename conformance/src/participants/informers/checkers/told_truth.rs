//! Every state and every deletion in a notification is in the server's log.

use std::{collections::BTreeMap, time::Duration};

use super::Finding;
use crate::{
    checkers::anomalies::Anomalies,
    model::{History, Model},
    trace::{HandlerNotification, Key, NotifiedChange, Observation, State, Trace},
};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The state of each handler and key that was found gone.
    let mut tombstones: BTreeMap<(usize, usize, Key), State> = BTreeMap::new();
    let merging = Anomalies::coalescing(trace);
    for (number, (at, observation)) in trace.timed().enumerate() {
        let Observation::Notified(notified) = observation else {
            continue;
        };
        let Some(history) = model.history(notified.informer) else {
            continue;
        };
        let place = (notified.informer, notified.handler, notified.key.clone());
        let tombstone = tombstones.remove(&place);
        if let Some(text) = untrue(notified, history) {
            // Merged with a later change, an object left the selection by that one.
            let lived = Duration::ZERO..=at;
            let fault = merging
                .touching(notified.informer, &lived)
                .filter(|_| is_deletion_seen(notified));
            let finding = Finding::at(number, format!("{notified}: {text}"));
            findings.push(finding.expected_of(fault));
        } else if let (Some(gone), Some(new)) = (tombstone, notified.state())
            && history
                .departure_after(&notified.key, gone.revision)
                .is_none_or(|departure| departure > new.revision)
        {
            findings.push(Finding::at(
                number,
                format!("{notified}: was reported deleted at {gone}, but was not"),
            ));
        }
        if let NotifiedChange::Deleted {
            last: Some(last),
            is_tombstone: true,
        } = &notified.change
        {
            tombstones.insert(place, last.clone());
        }
    }
    findings
}

fn is_deletion_seen(notified: &HandlerNotification) -> bool {
    matches!(
        notified.change,
        NotifiedChange::Deleted {
            is_tombstone: false,
            ..
        }
    )
}

fn untrue(notified: &HandlerNotification, history: &History) -> Option<String> {
    let key = &notified.key;
    match &notified.change {
        NotifiedChange::Added { new, .. } | NotifiedChange::Updated { new, .. } => {
            (!history.has_been(key, new)).then(|| format!("{new} never was"))
        }
        NotifiedChange::Deleted {
            last: Some(last),
            is_tombstone: true,
        } => {
            if !history.has_been(key, last) {
                Some(format!("{last} never was"))
            } else if history.departure_after(key, last.revision).is_none() {
                Some("it never went".to_owned())
            } else {
                None
            }
        }
        NotifiedChange::Deleted {
            last: Some(last),
            is_tombstone: false,
        } => {
            let moments = history.moments(key);
            let at = moments
                .iter()
                .position(|moment| moment.revision == last.revision);
            let is_true = at.is_some_and(|at| {
                let before = at
                    .checked_sub(1)
                    .and_then(|before| moments[before].state.as_ref());
                moments[at].state.is_none() && before.is_some_and(|before| before.uid == last.uid)
            });
            (!is_true).then(|| "there was no such deletion".to_owned())
        }
        NotifiedChange::Deleted { last: None, .. } => None,
    }
}
