//! The times without a leader, and their bounds.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Candidacy, ElectionEvent, LeaseState, Observation, ObservedLease, TICK, is_held_by};
use crate::trace::{Phase, seconds};

/// The longest wait between two attempts, in retry periods: one, and its jitter.
const PERIODS_MAX: f64 = 2.2;

/// The candidates that stand, and by when one of them has to lead.
#[derive(Default)]
pub(super) struct Vacancies {
    renew: Duration,
    retry: Duration,
    standing: BTreeMap<Candidacy, CandidateState>,
    leading: BTreeSet<Candidacy>,
    lease: Option<LeaseState>,
    /// The faults and incidents in force that hit candidates.
    troubles: BTreeSet<ActiveFault>,
    /// By when somebody has to lead; `None` if somebody does, or something is wrong.
    due: Option<Duration>,
    is_over: bool,
}

/// A fault in force.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ActiveFault {
    OfAll(usize),
    OfCandidates(usize),
}

/// A candidate that stands.
#[derive(Default)]
struct CandidateState {
    seen: Option<ObservedLease>,
    /// The requests under way, and true for reads.
    open: BTreeMap<usize, bool>,
}

// === impl Vacancies ===

impl Vacancies {
    /// Takes an observation, and describes a vacancy that has lasted too long before it.
    pub(super) fn observe(
        &mut self,
        at: Duration,
        observation: &Observation,
        has_leapt: bool,
    ) -> Option<String> {
        if self.is_over {
            return None;
        }
        // Before the observation is taken: it may end the vacancy, but too late.
        let late = self.due.take_if(|due| !has_leapt && *due + TICK < at);
        let late =
            late.map(|due| format!("nobody leads, and somebody should by {} s", seconds(due)));
        let is_disturbed = match observation {
            Observation::FaultBegins {
                fault,
                informer: None,
                ..
            } => self.troubles.insert(ActiveFault::OfAll(*fault)),
            Observation::FaultEnds { fault } => self.troubles.remove(&ActiveFault::OfAll(*fault)),
            Observation::Phase(Phase::Shutdown) => {
                self.is_over = true;
                false
            }
            _ => observation
                .event()
                .is_some_and(|event| self.observe_event(at, event)),
        };
        if is_disturbed || has_leapt {
            self.due = self.due_from(at);
        }
        late
    }

    /// Takes an event. Returns true if it restarts the bound.
    fn observe_event(&mut self, at: Duration, event: &ElectionEvent) -> bool {
        match event {
            ElectionEvent::Begins { renew, retry, .. } => {
                (self.renew, self.retry) = (*renew, *retry);
            }
            ElectionEvent::FaultBegins { fault, .. } => {
                self.troubles.insert(ActiveFault::OfCandidates(*fault));
            }
            ElectionEvent::FaultEnds { fault } => {
                self.troubles.remove(&ActiveFault::OfCandidates(*fault));
            }
            ElectionEvent::Stands { candidacy } => {
                self.standing.insert(*candidacy, CandidateState::default());
            }
            ElectionEvent::Leads { candidacy, .. } => {
                self.leading.insert(*candidacy);
            }
            ElectionEvent::Lost { candidacy } => {
                self.leading.remove(candidacy);
            }
            ElectionEvent::Stops { candidacy, .. } => {
                self.leading.remove(candidacy);
                self.standing.remove(candidacy);
            }
            ElectionEvent::LeaseChanged { after, .. } => self.lease.clone_from(after),
            ElectionEvent::Meddled { .. } => {}
            ElectionEvent::Asks {
                candidacy,
                request,
                method,
            } => {
                if let Some(standing) = self.standing.get_mut(candidacy) {
                    standing.open.insert(*request, method == "GET");
                }
                return false;
            }
            ElectionEvent::Answered {
                candidacy,
                request,
                lease,
                ..
            } => {
                if let Some(standing) = self.standing.get_mut(candidacy) {
                    standing.answered(at, *request, lease.as_ref());
                }
                return false;
            }
            ElectionEvent::Status { .. }
            | ElectionEvent::GaveUp { .. }
            | ElectionEvent::IsCoordinated { .. }
            | ElectionEvent::Settled { .. } => return false,
        }
        true
    }

    /// By when somebody has to lead, if nothing happens from `at` on.
    fn due_from(&self, at: Duration) -> Option<Duration> {
        let is_vacant = self.leading.is_empty() && self.troubles.is_empty();
        let standing = self.standing.iter().filter(|_| is_vacant);
        let due = standing.map(|(candidacy, standing)| self.due_of(at, *candidacy, standing));
        due.min()
    }

    /// By when one candidate has to lead, unless another does.
    fn due_of(&self, at: Duration, candidacy: Candidacy, standing: &CandidateState) -> Duration {
        let pause = self.retry.mul_f64(PERIODS_MAX);
        // The requests of an attempt under way may all be given up after their time limits.
        let under_way = if standing.open.is_empty() {
            Duration::ZERO
        } else {
            self.renew
        };
        let next = at + under_way + pause;
        let Some(lease) = &self.lease else {
            return next;
        };
        if lease.holder.is_empty() || is_held_by(lease, candidacy) {
            return next;
        }
        let seen = standing.seen.as_ref();
        let seen = seen.filter(|seen| seen.lease.says_the_same(lease));
        let since = seen.map_or(next, |seen| seen.since);
        next.max(since + lease.duration) + pause
    }
}

// === impl CandidateState ===

impl CandidateState {
    fn answered(&mut self, at: Duration, request: usize, lease: Option<&LeaseState>) {
        let is_read = self.open.remove(&request) == Some(true);
        if let Some(lease) = lease.filter(|_| is_read) {
            ObservedLease::update(&mut self.seen, lease, at);
        }
    }
}
