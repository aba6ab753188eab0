//! An outage costs as many requests as the backoff's curve allows, and no more.
//!
//! A watch that delivers something, or lives for a second, is health. Between two healthy watches an informer may send
//! a few requests at once (a list in place of a rejected stream, a list after an expired version), then has to wait 0.8
//! s, 1.6 s and so on, up to 30 s.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::Finding;
use crate::trace::{Observation, RequestKind, Trace, seconds};

/// The number of requests at each step of the backoff. A rejected form is followed by the next one at once: a stream
/// from an expired version, a stream that is cut off, the same again, a list from an expired version, a consistent
/// list, and the watch after it.
const REQUESTS_A_STEP: usize = 6;
/// The first and the longest wait of the backoff; jitter only adds to them.
pub(super) const WAIT_MIN: Duration = Duration::from_millis(800);
pub(super) const WAIT_MAX: Duration = Duration::from_secs(30);
/// The age at which a watch is healthy even if it has delivered nothing.
const HEALTHY_AGE: Duration = Duration::from_secs(1);

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let resumptions = resumptions(trace);
    for asks in asks(trace).into_values() {
        let mut began = 0;
        for (place, ask) in asks.iter().enumerate() {
            if resumptions.contains(&ask.number) {
                began = place;
            }
            let count = place + 1 - began;
            let lasted = ask.at.saturating_sub(asks[began].at);
            let allowed = REQUESTS_A_STEP * (1 + steps_within(lasted));
            if count > allowed {
                findings.push(Finding::at(
                    ask.number,
                    format!(
                        "{count} requests in {} s without a healthy watch; the backoff allows {allowed}",
                        seconds(lasted)
                    ),
                ));
                // One outage is one finding.
                began = place + 1;
            } else if ask.is_healthy() {
                began = place + 1;
            }
        }
    }
    findings
}

/// A request other than for a further page, and its answer.
pub(super) struct SentRequest {
    pub(super) number: usize,
    pub(super) at: Duration,
    is_watch: bool,
    /// True until the initial events have ended: only later events count.
    is_in_initial_events: bool,
    has_brought: bool,
    live_since: Option<Duration>,
    ended_at: Option<Duration>,
}

/// Returns the requests of each informer in order.
pub(super) fn asks(trace: &Trace) -> BTreeMap<usize, Vec<SentRequest>> {
    let mut asks: BTreeMap<usize, Vec<SentRequest>> = BTreeMap::new();
    let mut places: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (number, record) in trace.records().iter().enumerate() {
        if let Observation::Request {
            informer,
            request,
            kind,
        } = &record.observation
        {
            let (is_watch, is_in_initial_events) = match kind {
                RequestKind::List {
                    is_continued: true, ..
                } => continue,
                RequestKind::List { .. } => (false, false),
                RequestKind::Watch {
                    is_streaming_list, ..
                } => (true, *is_streaming_list),
            };
            let of_informer = asks.entry(*informer).or_default();
            places.insert(*request, (*informer, of_informer.len()));
            of_informer.push(SentRequest {
                number,
                at: record.at,
                is_watch,
                is_in_initial_events,
                has_brought: false,
                live_since: None,
                ended_at: None,
            });
            continue;
        }
        let Some(request) = request_of(&record.observation) else {
            continue;
        };
        let place = places.get(&request).copied();
        let Some(ask) = place.and_then(|(informer, at)| asks.get_mut(&informer)?.get_mut(at))
        else {
            continue;
        };
        ask.observe(record.at, &record.observation);
    }
    asks
}

/// Returns the records of the requests that follow the end of a pause: no wait precedes them.
pub(super) fn resumptions(trace: &Trace) -> BTreeSet<usize> {
    let mut resumed = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for (number, observation) in trace.numbered() {
        match observation {
            Observation::InformerResumes { informer } => {
                resumed.insert(*informer);
            }
            Observation::Request { informer, .. } if resumed.remove(informer) => {
                numbers.insert(number);
            }
            _ => {}
        }
    }
    numbers
}

fn request_of(observation: &Observation) -> Option<usize> {
    match observation {
        Observation::Answer { request, .. }
        | Observation::Frame { request, .. }
        | Observation::Bookmark { request, .. }
        | Observation::Ended { request, .. } => Some(*request),
        _ => None,
    }
}

// === impl SentRequest ===

impl SentRequest {
    fn observe(&mut self, at: Duration, observation: &Observation) {
        match observation {
            Observation::Answer { status: 200, .. } if !self.is_in_initial_events => {
                self.live_since = Some(at);
            }
            Observation::Bookmark {
                ends_initial_events: true,
                ..
            } => {
                self.is_in_initial_events = false;
                self.live_since = Some(at);
            }
            Observation::Frame { .. } | Observation::Bookmark { .. } => {
                self.has_brought |= !self.is_in_initial_events;
            }
            Observation::Ended { .. } => self.ended_at = Some(at),
            _ => {}
        }
    }

    pub(super) fn is_healthy(&self) -> bool {
        let is_old = self.live_since.is_some_and(|since| {
            self.ended_at
                .is_none_or(|ended| ended.saturating_sub(since) >= HEALTHY_AGE)
        });
        self.is_watch && (self.has_brought || is_old)
    }
}

/// Returns the number of waits of the backoff in this time.
fn steps_within(lasted: Duration) -> usize {
    let mut wait = WAIT_MIN;
    let mut passed = Duration::ZERO;
    let mut steps = 0;
    while passed + wait <= lasted {
        passed += wait;
        steps += 1;
        wait = WAIT_MAX.min(wait * 2);
    }
    steps
}
