//! Between two lists a handler hears of every state: watches are replayed without a gap, and nothing is lost on the way.

use std::{collections::BTreeMap, time::Duration};

use super::{Finding, anomalies::Anomalies, lists::Lists};
use crate::{
    model::{History, Model},
    trace::{Heard, Key, Notified, Observation, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    // A client hears of no state that is merged away on purpose.
    let merging = Anomalies::named(trace, &["coalesce"]);
    let mut findings = Vec::new();
    let mut requests: BTreeMap<usize, usize> = BTreeMap::new();
    let mut lists = Lists::default();
    // The last whole state that each informer got, which may leap over others.
    let mut listed: BTreeMap<usize, List> = BTreeMap::new();
    // What each handler was last told of a key, and when it joined.
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
                        // A list is told of in the moment in which it arrives, perhaps behind news that were on their way.
                        list.at == record.at
                            || Some(list.number) > since
                            // What it found gone may have come back in it.
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
            let list = List {
                number,
                at: record.at,
                revision,
            };
            listed.insert(informer, list);
        }
    }
    findings
}

/// A whole list that an informer got.
struct List {
    number: usize,
    at: Duration,
    revision: u64,
}

impl List {
    /// Whether this state was there when the list was made.
    fn holds(&self, notified: &Notified) -> bool {
        let state = notified.state();
        state.is_some_and(|state| state.revision <= self.revision)
    }
}

/// What a handler was last told of a key.
struct Told {
    /// Up to where it heard of everything; `None` if it was found gone, at whatever revision.
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

/// The state between the last and this one that was left out.
fn gap(notified: &Notified, last: Option<&Told>, history: &History) -> Option<String> {
    let new = notified.state()?;
    let mut between = history
        .moments(&notified.key)
        .iter()
        .filter(|moment| moment.revision < new.revision);
    let left_out = match last.and_then(|last| last.revision) {
        Some(revision) => between.find(|moment| moment.revision > revision),
        // What was before this handler joined, or before the object was found gone, is not for it to hear, except that the
        // object was there.
        None => between.next_back().filter(|moment| moment.state.is_some()),
    };
    left_out.map(|moment| format!("revision {} was left out", moment.revision))
}
