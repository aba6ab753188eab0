//! The pace of requests: attempts of three requests at most, with a retry period in between.

use std::{collections::BTreeMap, time::Duration};

use super::{Candidacy, ElectionEvent, TICK};
use crate::trace::seconds;

/// The most requests of an attempt: a renewal, a read and a write.
const REQUESTS_MAX: usize = 3;
/// The most requests after a stop: the rest of an attempt, and a release that has to read the lease.
const LAST_REQUESTS_MAX: usize = 6;

/// The attempts of all candidates.
#[derive(Default)]
pub(super) struct Attempts {
    retry: Duration,
    of: BTreeMap<Candidacy, Attempt>,
}

/// The present attempt of a candidate, or the last one.
#[derive(Default)]
struct Attempt {
    request_count: usize,
    /// The end of its last request.
    ended: Option<Duration>,
    has_stopped: bool,
}

// === impl Attempts ===

impl Attempts {
    /// Takes an event, and describes a request that comes too early.
    pub(super) fn observe(&mut self, at: Duration, event: &ElectionEvent) -> Option<String> {
        match event {
            ElectionEvent::Begins { retry, .. } => self.retry = *retry,
            ElectionEvent::Stands { candidacy } => {
                self.of.insert(*candidacy, Attempt::default());
            }
            ElectionEvent::Stops { candidacy, .. } => {
                let attempt = self.of.entry(*candidacy).or_default();
                attempt.has_stopped = true;
                attempt.request_count = 0;
            }
            ElectionEvent::Answered { candidacy, .. } => {
                self.of.entry(*candidacy).or_default().ended = Some(at);
            }
            ElectionEvent::Asks { candidacy, .. } => {
                let retry = self.retry;
                let attempt = self.of.entry(*candidacy).or_default();
                let early = attempt.begin_request(at, retry)?;
                return Some(format!("{event}, {early}"));
            }
            _ => {}
        }
        None
    }
}

// === impl Attempt ===

impl Attempt {
    fn begin_request(&mut self, at: Duration, retry: Duration) -> Option<String> {
        let waited = self.ended.map(|ended| at.saturating_sub(ended));
        let is_same = self.has_stopped || waited.is_some_and(|waited| waited.is_zero());
        if !is_same {
            self.request_count = 0;
        }
        self.request_count += 1;
        let limit = if self.has_stopped {
            LAST_REQUESTS_MAX
        } else {
            REQUESTS_MAX
        };
        if self.request_count > limit {
            let count = self.request_count;
            return Some(format!("the {count}th request at once"));
        }
        let is_early = !is_same && waited.is_some_and(|waited| waited + TICK < retry);
        is_early.then(|| {
            let waited = seconds(waited.unwrap_or_default());
            format!("{waited} s after its last attempt")
        })
    }
}
