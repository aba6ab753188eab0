//! The server's promise: a list is the state of its selection at its version, whatever its pages, or as a stream.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use super::{
    Finding,
    anomalies::Anomalies,
    stream::{Brought, Mistake, Stream, first_mistakes},
};
use crate::{
    model::Model,
    trace::{Key, Member, Observation, RequestKind, State, Trace},
};

/// See the [module](self).
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = in_pages(trace, model);
    findings.extend(first_mistakes(trace, model, in_stream));
    findings
}

fn in_pages(trace: &Trace, model: &Model) -> Vec<Finding> {
    let anomalies = Anomalies::of(trace);
    let mut findings = Vec::new();
    let mut requests: BTreeMap<usize, Asked> = BTreeMap::new();
    // In the order of requests: the next page of a list may be there before the one that it follows has ended.
    let mut pages: BTreeMap<usize, Page<'_>> = BTreeMap::new();
    for (record, (at, observation)) in trace.timed().enumerate() {
        match observation {
            Observation::Request {
                informer,
                request,
                kind: RequestKind::List { is_continued, .. },
            } => {
                let asked = Asked {
                    informer: *informer,
                    is_continued: *is_continued,
                    at,
                };
                requests.insert(*request, asked);
            }
            Observation::Page {
                request,
                revision,
                has_more,
                members,
            } => {
                let page = Page {
                    record,
                    at,
                    revision: *revision,
                    has_more: *has_more,
                    members,
                };
                pages.insert(*request, page);
            }
            Observation::Ended { request, .. } if !pages.contains_key(request) => {
                // A page that was not brought is asked for anew, and so are those behind it.
                if let Some(asked) = requests.get(request) {
                    let is_behind = |other: &usize| {
                        let of_other = requests.get(other).map(|other| other.informer);
                        other > request && of_other == Some(asked.informer)
                    };
                    pages.retain(|other, _| !is_behind(other));
                }
            }
            _ => {}
        }
    }
    // The pages of each informer's list that is under way.
    let mut lists: BTreeMap<usize, List> = BTreeMap::new();
    for (request, page) in &pages {
        let Some(asked) = requests.get(request) else {
            continue;
        };
        let (informer, revision) = (asked.informer, page.revision);
        let list = lists.entry(informer).or_default();
        if !asked.is_continued {
            *list = List::begin(asked.at);
        }
        let state = || Some(model.history(informer)?.at(revision));
        let wrong = list.page(revision, page.members).or_else(|| {
            let is_wrong = !page.has_more && state().is_some_and(|state| state != list.state);
            is_wrong.then(|| "is not the state at its version".to_owned())
        });
        let expected_of = |lived: RangeInclusive<Duration>| anomalies.touching(informer, &lived);
        findings.extend(wrong.map(|text| {
            let text = format!("list of {informer} at {revision}: {text}");
            Finding::at(page.record, text).expected_of(expected_of(list.began..=page.at))
        }));
    }
    findings
}

/// The initial events of a watch are a list, too: complete at the bookmark that ends them.
fn in_stream<'a>(stream: &Stream<'a>) -> Option<Mistake<'a>> {
    if stream.resumed_from.is_some() {
        return None;
    }
    let mut state: BTreeMap<Key, State> = BTreeMap::new();
    for item in &stream.items {
        if let Some(revision) = item.initial_events_end() {
            let is_exact = state == stream.history.at(revision);
            let text = "the initial events are not the state at this version";
            return (!is_exact).then(|| (*item, text.to_owned()));
        }
        match item.brought {
            Brought::Event {
                kind: "DELETED",
                member,
            } => {
                state.remove(&member.key);
            }
            Brought::Event { member, .. } => {
                state.insert(member.key.clone(), member.state.clone());
            }
            Brought::Bookmark { .. } => {}
        }
    }
    None
}

/// A request for a page.
struct Asked {
    informer: usize,
    /// Whether it goes on where another page ended.
    is_continued: bool,
    at: Duration,
}

/// A page, when it was there.
struct Page<'a> {
    record: usize,
    at: Duration,
    revision: u64,
    has_more: bool,
    members: &'a [Member],
}

#[derive(Default)]
struct List {
    began: Duration,
    revision: Option<u64>,
    last_key: Option<Key>,
    state: BTreeMap<Key, State>,
}

// === impl List ===

impl List {
    fn begin(began: Duration) -> Self {
        Self {
            began,
            ..Self::default()
        }
    }

    fn page(&mut self, revision: u64, members: &[Member]) -> Option<String> {
        let begun = *self.revision.get_or_insert(revision);
        for member in members {
            // Namespaces and names here hold no character that sorts before the slash.
            if self
                .last_key
                .as_ref()
                .is_some_and(|last| *last >= member.key)
            {
                return Some(format!("{} is out of order", member.key));
            }
            self.last_key = Some(member.key.clone());
            self.state.insert(member.key.clone(), member.state.clone());
        }
        (begun != revision).then(|| format!("its first page is of {begun}"))
    }
}
