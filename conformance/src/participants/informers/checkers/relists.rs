//! A relist has a reason: it costs the server more than any watch.
//!
//! Reasons are an expired version, an error, a request without an answer, a stream that delivered nothing or lived for
//! less than a second, a version that went back, and a pause at the moment at which a list arrived. A watch that worked and ended, however it ended, is resumed; one
//! that is throttled (429) waits.

use std::{collections::BTreeMap, time::Duration};

use super::{Finding, deliveries::Deliveries};
use crate::trace::{Observation, RequestKind, Trace};

/// The minimal age of a stream after which the next one is trusted.
const SHORT: Duration = Duration::from_secs(1);
const TOO_MANY_REQUESTS: u16 = 429;

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut all_deliveries = Deliveries::default();
    let mut informers: BTreeMap<usize, InformerState> = BTreeMap::new();
    for (number, (at, observation)) in trace.timed().enumerate() {
        if let Observation::Request { informer, kind, .. } = observation {
            let following = informers.entry(*informer).or_default();
            following.note_unanswered();
            if is_whole_state(kind) && following.is_relist_for_nothing() {
                findings.push(Finding::at(number, format!("{observation} for no reason")));
            }
        }
        let version = request_of(observation)
            .and_then(|request| all_deliveries.sender(request))
            .and_then(|informer| all_deliveries.of(informer).version);
        let is_complete = all_deliveries.observe(at, observation);
        let informer = match observation {
            Observation::Request { informer, .. } => Some(*informer),
            _ => request_of(observation).and_then(|request| all_deliveries.sender(request)),
        };
        if let Observation::InformerPauses { informer } = observation {
            informers.entry(*informer).or_default().pause(at);
        }
        if let Some(informer) = informer {
            let following = informers.entry(informer).or_default();
            following.observe(at, observation, version);
            if is_complete {
                following.state_came(at, observation);
            }
        }
    }
    findings
}

/// The state of an informer since its last whole state.
#[derive(Default)]
struct InformerState {
    has_state: bool,
    has_reason: bool,
    /// The time at which the last whole state came.
    came: Option<Duration>,
    /// The time of the last order to pause.
    paused: Option<Duration>,
    /// The request in progress.
    exchange: Option<Exchange>,
}

/// A request and its answer.
#[derive(Default)]
struct Exchange {
    request: usize,
    live_since: Option<Duration>,
    has_answer: bool,
    has_brought: bool,
}

// === impl InformerState ===

impl InformerState {
    /// Returns true if the requested state has no reason.
    fn is_relist_for_nothing(&mut self) -> bool {
        let is_for_nothing = self.has_state && !self.has_reason;
        // One relist is one finding, regardless of the number of its requests.
        self.has_reason = true;
        is_for_nothing
    }

    fn state_came(&mut self, at: Duration, observation: &Observation) {
        self.has_state = true;
        // So may one that comes in the moment of a pause.
        self.has_reason = self.paused == Some(at);
        self.came = Some(at);
        if let (Some(exchange), Observation::Bookmark { .. }) = (&mut self.exchange, observation) {
            // Now it is a watch.
            exchange.live_since = Some(at);
            exchange.has_brought = false;
        } else {
            self.exchange = None;
        }
    }

    /// Takes note of a pause: a state that came at the same moment may have been given up before it was stored.
    fn pause(&mut self, at: Duration) {
        self.has_reason |= self.came == Some(at);
        self.paused = Some(at);
    }

    fn note_unanswered(&mut self) {
        let is_unanswered = |exchange: Exchange| !exchange.has_answer;
        self.has_reason |= self.exchange.take().is_some_and(is_unanswered);
    }

    /// Takes an observation; `version` is the one that the server had delivered before.
    fn observe(&mut self, at: Duration, observation: &Observation, version: Option<u64>) {
        match observation {
            Observation::Request { request, .. } => {
                self.exchange = Some(Exchange {
                    request: *request,
                    ..Exchange::default()
                });
                return;
            }
            Observation::Answer { status, .. } => {
                self.has_reason |= *status >= 400 && *status != TOO_MANY_REQUESTS;
            }
            Observation::ErrorEvent { status, .. } => {
                self.has_reason |= *status != TOO_MANY_REQUESTS;
            }
            Observation::Garbled { .. } => self.has_reason = true,
            _ => {}
        }
        let Some(exchange) = &mut self.exchange else {
            return;
        };
        if request_of(observation) != Some(exchange.request) {
            return;
        }
        match observation {
            Observation::Answer { status, .. } => {
                exchange.has_answer = true;
                exchange.live_since = (*status == 200).then_some(at);
            }
            Observation::Frame { member, .. } => {
                exchange.has_brought = true;
                self.has_reason |= version.is_some_and(|last| member.state.revision < last);
            }
            Observation::Bookmark { revision, .. } => {
                exchange.has_brought = true;
                self.has_reason |= version.is_some_and(|last| *revision < last);
            }
            Observation::Ended { .. } => {
                // The error was the reason.
                let Some(since) = exchange.live_since else {
                    return;
                };
                let is_short = at.saturating_sub(since) < SHORT;
                self.has_reason |= is_short || !exchange.has_brought;
            }
            _ => {}
        }
    }
}

fn is_whole_state(kind: &RequestKind) -> bool {
    match kind {
        RequestKind::List { is_continued, .. } => !is_continued,
        RequestKind::Watch {
            is_streaming_list, ..
        } => *is_streaming_list,
    }
}

fn request_of(observation: &Observation) -> Option<usize> {
    match observation {
        Observation::Answer { request, .. }
        | Observation::Page { request, .. }
        | Observation::Frame { request, .. }
        | Observation::Bookmark { request, .. }
        | Observation::ErrorEvent { request, .. }
        | Observation::Garbled { request }
        | Observation::Ended { request, .. } => Some(*request),
        _ => None,
    }
}
