//! At a gate no more informers list at a time than it lets through.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::trace::{Observation, RequestKind, Trace};

/// An informer lists from the answer to its request for a whole state until the last page has arrived, the initial events are
/// complete, or a body has ended before.
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut gate = usize::MAX;
    let mut lists = Lists::default();
    for (number, observation) in trace.numbered() {
        if let Observation::ListGate { width } = observation {
            gate = *width;
        }
        lists.observe(observation);
        if lists.answered.len() > gate {
            let listing = &lists.answered;
            let text = format!("{observation}: informers {listing:?} list at a time, {gate} may");
            findings.push(Finding::at(number, text));
            // One crowd is one finding.
            lists.answered.clear();
        }
    }
    findings
}

/// The lists in progress.
#[derive(Default)]
struct Lists {
    /// The requests that are parts of lists.
    requests: BTreeMap<usize, Part>,
    /// The informers whose lists are answered.
    answered: BTreeSet<usize>,
}

/// A request that is a part of a list.
struct Part {
    informer: usize,
    /// True if it may be a check of a version instead, which needs no turn; the first of pages of one object looks the same.
    may_be_check: bool,
}

// === impl Lists ===

impl Lists {
    fn observe(&mut self, observation: &Observation) {
        match observation {
            Observation::Request {
                informer,
                request,
                kind,
            } => {
                let (is_list, begins) = match kind {
                    RequestKind::List { is_continued, .. } => (true, !is_continued),
                    RequestKind::Watch {
                        is_streaming_list, ..
                    } => (*is_streaming_list, true),
                };
                // An informer has one list at a time: another one ends it.
                if begins {
                    self.end(*informer);
                }
                if is_list {
                    let part = Part {
                        informer: *informer,
                        may_be_check: false,
                    };
                    self.requests.insert(*request, part);
                }
            }
            Observation::Answer {
                request,
                status: 200,
            } => {
                let part = self.requests.get(request);
                let part = part.filter(|part| !part.may_be_check);
                self.answered.extend(part.map(|part| part.informer));
            }
            Observation::VersionCheck { request } => {
                if let Some(part) = self.requests.get_mut(request) {
                    part.may_be_check = true;
                }
            }
            // A page that was read to its end is followed by the next.
            Observation::Page {
                request,
                has_more: true,
                ..
            } => drop(self.requests.remove(request)),
            Observation::Page { request, .. }
            | Observation::Bookmark {
                request,
                ends_initial_events: true,
                ..
            }
            | Observation::ErrorEvent { request, .. }
            | Observation::Answer { request, .. }
            | Observation::Garbled { request }
            | Observation::Ended { request, .. } => self.end_of(*request),
            Observation::InformerPauses { informer }
            | Observation::InformerStopped { informer, .. } => self.end(*informer),
            _ => {}
        }
    }

    fn end_of(&mut self, request: usize) {
        if let Some(part) = self.requests.get(&request) {
            self.end(part.informer);
        }
    }

    /// Ends the list of an informer.
    fn end(&mut self, informer: usize) {
        self.answered.remove(&informer);
        self.requests.retain(|_, part| part.informer != informer);
    }
}
