//! Between two lists a handler is notified of every state: watches are replayed without gaps.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Finding, paged_lists::PagedLists};
use crate::{
    checkers::anomalies::Anomalies,
    model::{History, Model},
    trace::{HandlerNotification, Key, NotifiedCause, NotifiedChange, Observation, Record, Trace},
};

/// The progress through a trace.
struct Progress<'a> {
    model: &'a Model,
    /// The states that a fault merges away: a client never sees them.
    merging: Anomalies,
    lists: PagedLists,
    /// The informer of each request.
    requests: BTreeMap<usize, usize>,
    /// The last whole list of each informer, which may skip states.
    listed: BTreeMap<usize, List>,
    /// The last notification of each handler about each key.
    last_notifications: BTreeMap<(usize, usize, Key), LastNotification>,
    /// The record in which each handler joined.
    joined: BTreeMap<(usize, usize), usize>,
    /// The handlers for which changes are merged while they wait.
    merged: BTreeSet<(usize, usize)>,
    findings: Vec<Finding>,
}

/// A whole list of an informer.
struct List {
    number: usize,
    at: Duration,
    revision: u64,
}

/// The last notification of a handler about a key.
struct LastNotification {
    /// The version up to which it knows everything; `None` if the object was found gone, at an unknown revision.
    revision: Option<u64>,
    number: usize,
}

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut progress = Progress::new(trace, model);
    for (number, record) in trace.records().iter().enumerate() {
        progress.observe(number, record);
    }
    progress.findings
}

// === impl Progress ===

impl<'a> Progress<'a> {
    fn new(trace: &Trace, model: &'a Model) -> Self {
        Self {
            model,
            merging: Anomalies::coalescing(trace),
            lists: PagedLists::default(),
            requests: BTreeMap::new(),
            listed: BTreeMap::new(),
            last_notifications: BTreeMap::new(),
            joined: BTreeMap::new(),
            merged: BTreeSet::new(),
            findings: Vec::new(),
        }
    }

    fn observe(&mut self, number: usize, record: &Record) {
        let listing = self.lists.observe(&record.observation);
        let mut whole = listing.map(|list| (list.informer, list.version));
        match &record.observation {
            Observation::HandlerJoins {
                informer,
                handler,
                merges,
                ..
            } => {
                self.joined.insert((*informer, *handler), number);
                if *merges {
                    self.merged.insert((*informer, *handler));
                }
            }
            Observation::Request {
                informer, request, ..
            } => {
                self.requests.insert(*request, *informer);
            }
            Observation::Notified(notified) => self.notified(number, record.at, notified),
            Observation::Bookmark {
                request,
                revision,
                ends_initial_events: true,
            } => {
                let informer = self.requests.get(request);
                whole = informer.map(|informer| (*informer, *revision));
            }
            _ => {}
        }
        if let Some((informer, revision)) = whole {
            let list = List {
                number,
                at: record.at,
                revision,
            };
            self.listed.insert(informer, list);
        }
    }

    fn notified(&mut self, number: usize, at: Duration, notified: &HandlerNotification) {
        let Some(history) = self.model.history(notified.informer) else {
            return;
        };
        let place = (notified.informer, notified.handler, notified.key.clone());
        let last = self.last_notifications.get(&place);
        let gap = gap(notified, last, history).filter(|_| !self.may_skip(at, notified, last));
        if let Some(text) = gap {
            let lived = Duration::ZERO..=at;
            let finding = Finding::at(number, format!("{notified}: {text}"))
                .expected_of(self.merging.touching(notified.informer, &lived));
            self.findings.push(finding);
        }
        let revision = told_revision(notified);
        self.last_notifications
            .insert(place, LastNotification { revision, number });
    }

    /// Returns true if the notification may skip states: it is initial, merged of several, or from a list.
    fn may_skip(
        &self,
        at: Duration,
        notified: &HandlerNotification,
        last: Option<&LastNotification>,
    ) -> bool {
        let handler = (notified.informer, notified.handler);
        let since = last
            .map(|last| last.number)
            .or(self.joined.get(&handler).copied());
        is_initial(notified)
            || self.merged.contains(&handler)
            // Of a slow handler it may come long after the list.
            || notified.cause == Some(NotifiedCause::Relist)
            || self.listed.get(&notified.informer).is_some_and(|list| {
                // Notifications of a list come in the moment in which it arrives, perhaps behind earlier changes in
                // flight.
                list.at == at
                    || Some(list.number) > since
                    // An object that it found gone may be back in it.
                    || last.is_some_and(|last| last.revision.is_none()) && list.holds(notified)
            })
    }
}

// === impl List ===

impl List {
    /// Returns true if the list had this state.
    fn holds(&self, notified: &HandlerNotification) -> bool {
        let state = notified.state();
        state.is_some_and(|state| state.revision <= self.revision)
    }
}

fn told_revision(notified: &HandlerNotification) -> Option<u64> {
    match &notified.change {
        NotifiedChange::Deleted {
            is_tombstone: true, ..
        } => None,
        _ => notified.state().map(|state| state.revision),
    }
}

fn is_initial(notified: &HandlerNotification) -> bool {
    matches!(
        notified.change,
        NotifiedChange::Added {
            is_initial: true,
            ..
        }
    )
}

/// Returns a state between the last one and this one that was left out.
fn gap(
    notified: &HandlerNotification,
    last: Option<&LastNotification>,
    history: &History,
) -> Option<String> {
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
