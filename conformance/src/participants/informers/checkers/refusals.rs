//! The times to which refusals have put off the next request of each informer.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

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
    /// The time of the last resumption of each informer.
    resumed: BTreeMap<usize, Duration>,
    /// The informers that were resumed in the moment of their refusal, which ends the wait if it is read after it.
    unclear: BTreeSet<usize>,
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
                    if self.resumed.get(informer) == Some(&at) {
                        self.unclear.insert(*informer);
                    }
                }
            }
            // It asks at once.
            Observation::InformerResumes { informer } => {
                self.until.remove(informer);
                self.resumed.insert(*informer, at);
            }
            _ => {}
        }
    }

    /// Returns the time to which an informer has to wait.
    pub(super) fn until(&self, informer: usize) -> Option<Duration> {
        self.until.get(&informer).copied()
    }

    /// Returns the same, unless that is unclear, and forgets it.
    pub(super) fn take(&mut self, informer: usize) -> Option<Duration> {
        let is_clear = !self.unclear.remove(&informer);
        self.until.remove(&informer).filter(|_| is_clear)
    }
}
