//! Between two lists a handler is notified of every state: watches are replayed without gaps.

use std::{collections::BTreeMap, time::Duration};

use super::{Finding, anomalies::Anomalies, paged_lists::PagedLists};
use crate::{
    model::{History, Model},
    trace::{Heard, Key, Notified, Observation, Trace},
};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    // A client never sees states that a fault merges away.
    let merging = Anomalies::coalescing(trace);
    let mut findings = Vec::new();
    let mut requests: BTreeMap<usize, usize> = BTreeMap::new();
    let mut lists = PagedLists::default();
    // The last whole state of each informer, which may skip others.
    let mut listed: BTreeMap<usize, List> = BTreeMap::new();
    // The last notification of each handler about each key, and the time at which it joined.
    let mut told: BTreeMap<(usize, usize, Key), Told> = BTreeMap::new();
    let mut joined: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (number, record) in trace.records().iter().enumerate() {
        let listing = lists.observe(&record.observation);
        let mut whole = listing.map(|list| (list.informer, list.version));
        match &record.observation {
            Observation::HandlerJoins {
                informer, handler, ..
            } => {
                joined.insert((*informer, *handler), number);
            }
            Observation::Request {
                informer, request, ..
            } => {
                requests.insert(*request, *informer);
            }
            Observation::Notified(notified) => {
                let Some(history) = model.history(notified.informer) else {
                    continue;
                };
                let handler = (notified.informer, notified.handler);
                let place = (handler.0, handler.1, notified.key.clone());
                let last = told.get(&place);
                let since = last
                    .map(|last| last.number)
                    .or(joined.get(&handler).copied());
                let may_leap = is_initial(notified)
                    || listed.get(&notified.informer).is_some_and(|list| {
                        // Notifications of a list come in the moment in which it arrives, perhaps behind earlier
                        // changes in flight.
                        list.at == record.at
                            || Some(list.number) > since
                            // An object that it found gone may be back in it.
                            || last.is_some_and(|last| last.revision.is_none()) && list.holds(notified)
                    });
                if let Some(text) = gap(notified, last, history).filter(|_| !may_leap) {
                    let lived = Duration::ZERO..=record.at;
                    let finding = Finding::at(number, format!("{notified}: {text}"))
                        .expected_of(merging.touching(notified.informer, &lived));
                    findings.push(finding);
                }
                let revision = told_revision(notified);
                told.insert(place, Told { revision, number });
            }
            Observation::Bookmark {
                request,
                revision,
                ends_initial_events: true,
            } => whole = requests.get(request).map(|informer| (*informer, *revision)),
            _ => {}
        }
        if let Some((informer, revision)) = whole {
            let at = record.at;
            listed.insert(
                informer,
                List {
                    number,
                    at,
                    revision,
                },
            );
        }
    }
    findings
}

/// A whole list of an informer.
struct List {
    number: usize,
    at: Duration,
    revision: u64,
}

impl List {
    /// Returns true if the list had this state.
    fn holds(&self, notified: &Notified) -> bool {
        let state = notified.state();
        state.is_some_and(|state| state.revision <= self.revision)
    }
}

/// The last notification of a handler about a key.
struct Told {
    /// The version up to which it knows everything; `None` if the object was found gone, at an unknown revision.
    revision: Option<u64>,
    number: usize,
}

fn told_revision(notified: &Notified) -> Option<u64> {
    match &notified.heard {
        Heard::Deleted {
            is_tombstone: true, ..
        } => None,
        _ => notified.state().map(|state| state.revision),
    }
}

fn is_initial(notified: &Notified) -> bool {
    matches!(
        notified.heard,
        Heard::Added {
            is_initial: true,
            ..
        }
    )
}

/// Returns a state between the last one and this one that was left out.
fn gap(notified: &Notified, last: Option<&Told>, history: &History) -> Option<String> {
    let new = notified.state()?;
    let mut between = history
        .moments(&notified.key)
        .iter()
        .filter(|moment| moment.revision < new.revision);
    let left_out = match last.and_then(|last| last.revision) {
        Some(revision) => between.find(|moment| moment.revision > revision),
        // States from before the handler joined, or before the object was found gone, are not reported to it, but that
        // the object
        // existed is.
        None => between.next_back().filter(|moment| moment.state.is_some()),
    };
    left_out.map(|moment| format!("revision {} was left out", moment.revision))
}
