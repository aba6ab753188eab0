//! The cause of a notification is true: a resync repeats what is known and only for handlers that want it, anything else
//! has a change to tell, a live update is one that a watch brought, and a relist finds only what a list had.
//!
//! That the old state of an update is the one that the handler knows is checked by
//! [`handler_streams`](super::handler_streams).

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::trace::{
    HandlerNotification, Key, NotifiedCause, NotifiedChange, Observation, RequestKind, State, Trace,
};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut evidence = Evidence::default();
    for (number, observation) in trace.numbered() {
        evidence.observe(observation);
        let Observation::Notified(notified) = observation else {
            continue;
        };
        if let Some(text) = evidence.untrue(notified) {
            findings.push(Finding::at(number, format!("{notified}: {text}")));
        }
    }
    findings
}

/// The observations that causes are compared with.
#[derive(Default)]
struct Evidence<'a> {
    /// The informer of each request.
    requests: BTreeMap<usize, usize>,
    /// The handlers that want resyncs.
    resynced: BTreeSet<(usize, usize)>,
    /// The handlers for which changes that wait are merged.
    merging: BTreeSet<(usize, usize)>,
    /// The states that watches have brought to each informer.
    framed: BTreeSet<(usize, &'a Key, &'a State)>,
    /// The streaming lists.
    streams: BTreeSet<usize>,
    /// The states that lists have brought to each informer.
    listed: BTreeSet<(usize, &'a Key, &'a State)>,
}

// === impl Evidence ===

impl<'a> Evidence<'a> {
    fn observe(&mut self, observation: &'a Observation) {
        match observation {
            Observation::Request {
                informer,
                request,
                kind,
            } => {
                self.requests.insert(*request, *informer);
                if let RequestKind::Watch {
                    is_streaming_list: true,
                    ..
                } = kind
                {
                    self.streams.insert(*request);
                }
            }
            Observation::HandlerJoins {
                informer,
                handler,
                merges: true,
                ..
            } => {
                self.merging.insert((*informer, *handler));
            }
            Observation::ResyncWanted {
                informer, handler, ..
            } => {
                self.resynced.insert((*informer, *handler));
            }
            Observation::Frame {
                request, member, ..
            } => {
                if let Some(informer) = self.requests.get(request) {
                    let own = (*informer, &member.key, &member.state);
                    self.framed.insert(own);
                    // The events of a streaming list are both: those at its beginning are a list, later ones are
                    // changes.
                    if self.streams.contains(request) {
                        self.listed.insert(own);
                    }
                }
            }
            Observation::Page {
                request, members, ..
            } => {
                if let Some(informer) = self.requests.get(request) {
                    let own = members
                        .iter()
                        .map(|member| (*informer, &member.key, &member.state));
                    self.listed.extend(own);
                }
            }
            _ => {}
        }
    }

    /// Describes the contradiction between a notification and its cause.
    fn untrue(&self, notified: &HandlerNotification) -> Option<&'static str> {
        let handler = (notified.informer, notified.handler);
        match (notified.cause?, &notified.change) {
            (NotifiedCause::Resync, NotifiedChange::Updated { old, new }) if old != new => {
                Some("a resync that changes the state")
            }
            (NotifiedCause::Resync, NotifiedChange::Updated { .. }) => {
                (!self.resynced.contains(&handler))
                    .then_some("a resync of a handler that wants none")
            }
            (
                NotifiedCause::Resync,
                NotifiedChange::Added { .. } | NotifiedChange::Deleted { .. },
            ) => Some("a resync that is no update"),
            (_, NotifiedChange::Updated { old, new }) if old == new => {
                Some("an update without a change, and no resync")
            }
            (NotifiedCause::Live, NotifiedChange::Updated { new, .. }) => {
                let own = (notified.informer, &notified.key, new);
                (!self.framed.contains(&own)).then_some("a live update that no watch brought")
            }
            // What a relist found and a watch changed meanwhile was found by the relist.
            (NotifiedCause::Relist, NotifiedChange::Added { new, .. })
                if self.merging.contains(&handler)
                    && self
                        .framed
                        .contains(&(notified.informer, &notified.key, new)) =>
            {
                None
            }
            (
                NotifiedCause::Relist,
                NotifiedChange::Added { new, .. } | NotifiedChange::Updated { new, .. },
            ) => {
                let own = (notified.informer, &notified.key, new);
                (!self.listed.contains(&own)).then_some("found by a relist, but in no list")
            }
            (
                NotifiedCause::Relist,
                NotifiedChange::Deleted {
                    is_tombstone: false,
                    ..
                },
            ) => Some("a relist that saw a deletion happen"),
            _ => None,
        }
    }
}
