//! The server's promise: a list is the state of its selection at its version, in pages as well as in a stream.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Finding,
    anomalies::Anomalies,
    watch_streams::{Brought, Deviation, WatchStream, first_deviations},
};
use crate::{
    model::Model,
    trace::{Key, Member, Observation, RequestKind, State, Trace},
};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
    let mut findings = in_pages(trace, model);
    findings.extend(first_deviations(trace, model, in_stream));
    findings
}

fn in_pages(trace: &Trace, model: &Model) -> Vec<Finding> {
    let anomalies = Anomalies::of(trace);
    let mut findings = Vec::new();
    // The pages of each informer's present list.
    let mut lists: BTreeMap<usize, List> = BTreeMap::new();
    for page in pages(trace) {
        let (asked, revision) = (page.asked, page.revision);
        let list = lists.entry(asked.informer).or_default();
        if !asked.is_continued {
            *list = List::begin(asked.at);
        }
        let state = || Some(model.served(asked.informer)?.at(revision));
        let wrong = list.page(revision, page.members).or_else(|| {
            let is_wrong = !page.has_more && state().is_some_and(|state| state != list.state);
            is_wrong.then(|| "is not the state at its version".to_owned())
        });
        findings.extend(wrong.map(|text| {
            let text = format!("list of {} at {revision}: {text}", asked.informer);
            let touched = anomalies.touching(asked.informer, &(list.began..=page.at));
            Finding::at(page.record, text).expected_of(touched)
        }));
    }
    findings
}

/// Returns the pages that clients used, in the order of their requests: the next page of a list may arrive before the
/// end of the one before it.
fn pages(trace: &Trace) -> impl Iterator<Item = Page<'_>> {
    let mut requests: BTreeMap<usize, Asked> = BTreeMap::new();
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
                let page = requests.get(request).map(|asked| Page {
                    asked: *asked,
                    record,
                    at,
                    revision: *revision,
                    has_more: *has_more,
                    members,
                });
                pages.extend(page.map(|page| (*request, page)));
            }
            Observation::Ended { request, .. } if !pages.contains_key(request) => {
                // A page without an answer is requested again, and so are those that follow it.
                if let Some(asked) = requests.get(request) {
                    pages.retain(|other, page| {
                        other < request || page.asked.informer != asked.informer
                    });
                }
            }
            _ => {}
        }
    }
    pages.into_values()
}

/// Checks the initial events of a watch, which are a list, too: complete at the bookmark that ends them.
fn in_stream<'a>(stream: &WatchStream<'a>) -> Option<Deviation<'a>> {
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
#[derive(Clone, Copy)]
struct Asked {
    informer: usize,
    /// True if it continues an earlier page.
    is_continued: bool,
    at: Duration,
}

/// A page that has arrived.
struct Page<'a> {
    asked: Asked,
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
