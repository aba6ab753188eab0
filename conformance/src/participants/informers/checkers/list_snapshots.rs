//! The server's promise: a list is the state of its selection at its version, in pages as well as in a stream.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Finding,
    watch_streams::{Deviation, FrameContent, WatchStream, first_deviations},
};
use crate::{
    checkers::anomalies::Anomalies,
    model::Model,
    trace::{Key, Member, Observation, RequestKind, State, Trace},
};

pub(super) fn check(trace: &Trace, model: &Model) -> Vec<Finding> {
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
        let (request_of, revision) = (page.request_of, page.revision);
        let list = lists.entry(request_of.informer).or_default();
        if !request_of.is_continued {
            *list = List::begin(request_of.at);
        }
        let state = || Some(model.served(request_of.informer)?.at(revision));
        let wrong = list.page(revision, page.members).or_else(|| {
            let is_wrong = !page.has_more && state().is_some_and(|state| state != list.state);
            is_wrong.then(|| "is not the state at its version".to_owned())
        });
        findings.extend(wrong.map(|text| {
            let text = format!("list of {} at {revision}: {text}", request_of.informer);
            let touched = anomalies.touching(request_of.informer, &(list.began..=page.at));
            Finding::at(page.record, text).expected_of(touched)
        }));
    }
    findings
}

/// Returns the pages that clients used, in the order of their requests: the next page of a list may arrive before the
/// end of the one before it.
fn pages(trace: &Trace) -> impl Iterator<Item = Page<'_>> {
    let mut requests: BTreeMap<usize, PageRequest> = BTreeMap::new();
    let mut pages: BTreeMap<usize, Page<'_>> = BTreeMap::new();
    for (record, (at, observation)) in trace.timed().enumerate() {
        match observation {
            Observation::Request {
                informer,
                request,
                kind: RequestKind::List { is_continued, .. },
            } => {
                let request_of = PageRequest {
                    informer: *informer,
                    is_continued: *is_continued,
                    at,
                };
                requests.insert(*request, request_of);
            }
            Observation::Page {
                request,
                revision,
                has_more,
                members,
            } => {
                let page = requests.get(request).map(|request_of| Page {
                    request_of: *request_of,
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
                if let Some(request_of) = requests.get(request) {
                    pages.retain(|other, page| {
                        other < request || page.request_of.informer != request_of.informer
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
        match item.content {
            FrameContent::Event {
                kind: "DELETED",
                member,
            } => {
                state.remove(&member.key);
            }
            FrameContent::Event { member, .. } => {
                state.insert(member.key.clone(), member.state.clone());
            }
            FrameContent::Bookmark { .. } => {}
        }
    }
    None
}

/// A request for a page.
#[derive(Clone, Copy)]
struct PageRequest {
    informer: usize,
    /// True if it continues an earlier page.
    is_continued: bool,
    at: Duration,
}

/// A page that has arrived.
struct Page<'a> {
    request_of: PageRequest,
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
