//! The times to which refusals have put off the next request of each informer.

use std::{collections::BTreeMap, time::Duration};

use crate::trace::Observation;

/// The longest wait that a server can demand.
const WAIT_MAX: Duration = Duration::from_mins(5);

/// The waits that refusals ask for, as far as a trace was observed.
#[derive(Default)]
pub(super) struct Refusals {
    /// The informer of each request.
    senders: BTreeMap<usize, usize>,
    /// The time to which each informer has to wait: the latest that a refusal named.
    until: BTreeMap<usize, Duration>,
}

// === impl Refusals ===

impl Refusals {
    pub(super) fn observe(&mut self, at: Duration, observation: &Observation) {
        match observation {
            Observation::Request {
                informer, request, ..
            } => {
                self.senders.insert(*request, *informer);
            }
            Observation::AskedToWait { request, wait } => {
                if let Some(informer) = self.senders.get(request) {
                    let until = self.until.entry(*informer).or_default();
                    *until = Duration::max(*until, at + WAIT_MAX.min(*wait));
                }
            }
            // It asks at once.
            Observation::InformerResumes { informer } => {
                self.until.remove(informer);
            }
            _ => {}
        }
    }

    /// Returns the time to which an informer has to wait.
    pub(super) fn until(&self, informer: usize) -> Option<Duration> {
        self.until.get(&informer).copied()
    }

    /// Returns the same, and forgets it.
    pub(super) fn take(&mut self, informer: usize) -> Option<Duration> {
        self.until.remove(&informer)
    }
}
