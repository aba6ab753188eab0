//! The status of an informer is true: it reports a watch while it has one, a pause while it was asked for one, and neither
//! after that. So users learn that their cache is behind while it is.
//!
//! An order counts from the start on: before it, no task is there that could follow it.

use std::{collections::BTreeMap, time::Duration};

use super::Finding;
use crate::{
    checkers::clock_leaps::ClockLeaps,
    trace::{Link, Observation, RequestKind, Trace},
};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut leaps = ClockLeaps::default();
    let mut links = Links::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        leaps.observe(at, observation);
        if let Observation::Status { informer, link, .. } = observation
            && !leaps.is_waking(at)
            && let Some(text) = links.untrue(*informer, *link, at)
        {
            findings.push(Finding::at(number, format!("{observation}: {text}")));
        }
        links.observe(at, observation);
    }
    findings
}

/// The connections of all informers.
#[derive(Default)]
struct Links {
    /// The watches, each with its informer.
    watches: BTreeMap<usize, Watch>,
    /// The beginnings and ends of pauses: the last of each informer.
    pauses: BTreeMap<usize, (Duration, bool)>,
}

/// A watch that is open, or was open a moment ago.
struct Watch {
    informer: usize,
    /// The time from which it brings changes, if it has come so far.
    live: Option<Duration>,
    ended: Option<Duration>,
    /// True while its events are those of the initial state.
    is_initial: bool,
}

// === impl Links ===

impl Links {
    fn observe(&mut self, at: Duration, observation: &Observation) {
        match observation {
            Observation::Request {
                informer,
                request,
                kind:
                    RequestKind::Watch {
                        is_streaming_list, ..
                    },
            } => {
                let watch = Watch {
                    informer: *informer,
                    live: None,
                    ended: None,
                    is_initial: *is_streaming_list,
                };
                self.watches.insert(*request, watch);
            }
            Observation::Answer {
                request,
                status: 200,
            } => {
                if let Some(watch) = self.watches.get_mut(request)
                    && !watch.is_initial
                {
                    watch.live = Some(at);
                }
            }
            Observation::Bookmark {
                request,
                ends_initial_events: true,
                ..
            } => {
                if let Some(watch) = self.watches.get_mut(request) {
                    watch.live = Some(at);
                }
            }
            Observation::Ended { request, .. } => {
                if let Some(watch) = self.watches.get_mut(request) {
                    watch.ended = Some(at);
                }
                // A watch that has ended just now may still be in a status of this moment.
                self.watches
                    .retain(|_, watch| watch.ended.is_none_or(|ended| ended == at));
            }
            Observation::InformerStarts { informer, .. } => {
                if let Some((since, _)) = self.pauses.get_mut(informer) {
                    *since = at;
                }
            }
            Observation::InformerPauses { informer } => {
                self.pauses.insert(*informer, (at, true));
            }
            Observation::InformerResumes { informer } => {
                self.pauses.insert(*informer, (at, false));
            }
            _ => {}
        }
    }

    /// Describes the contradiction between what an informer tells at this time and what it did until the moment before.
    fn untrue(&self, informer: usize, link: Link, at: Duration) -> Option<&'static str> {
        let own = || {
            let watches = self.watches.values();
            watches.filter(|watch| watch.informer == informer && watch.live.is_some())
        };
        let has_watch = own().any(|watch| watch.ended.is_none_or(|ended| ended == at));
        let has_had_watch = own().any(|watch| watch.ended.is_none() && watch.live < Some(at));
        let pause = self.pauses.get(&informer).filter(|(since, _)| *since < at);
        let is_paused = pause.is_some_and(|(_, is_paused)| *is_paused);
        match link {
            Link::Watching if !has_watch => Some("it has no watch"),
            Link::Other if has_had_watch => Some("it has a watch"),
            Link::Other if is_paused => Some("it was paused"),
            Link::Paused if pause.is_some() && !is_paused => Some("it was resumed"),
            _ => None,
        }
    }
}
