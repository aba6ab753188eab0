//! The pure core for a lease that a coordinator grants: whether it may be taken up, kept or has to be given back.

use jiff::Timestamp;
use tokio::time::Instant;

use super::record::{Record, micro_time};

/// A candidate's knowledge of the coordinator's decisions.
#[derive(Clone, Debug, Default)]
pub(super) struct Coordinated {
    /// The beginning of the read under way, or of the last one.
    asking: Option<Instant>,
    /// The beginning of the last read or write since which any grant that was not seen yet was made.
    not_granted: Option<Instant>,
    /// The time of the grant that was refused, if the last read showed one: until it is gone, it is refused again.
    refused: Option<Timestamp>,
    term: Option<Term>,
}

/// A term that was granted to this candidate.
#[derive(Clone, Debug)]
struct Term {
    /// The coordinator's time when it was granted, and the earliest moment at which that may have been.
    granted: Timestamp,
    since: Instant,
    /// The time of acquisition that this candidate writes.
    acquired: String,
}

/// The right of a candidate to a lease that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// The candidate has no grant.
    Nothing,
    /// The lease is its own: it may take it up or renew it.
    Own,
    /// The candidate leads, and another one is to.
    HandOver,
    /// The lease names it, and it cannot know how long ago that was granted, or another is to lead.
    Stale,
}

// === impl Coordinated ===

impl Coordinated {
    /// A read of the lease begins.
    pub(super) fn on_asked(&mut self, now: Instant) {
        self.asking = Some(now);
    }

    /// Returns the right to a lease that was read at `now`; `None` if there is no lease.
    pub(super) fn on_read(
        &mut self,
        identity: &str,
        now: Instant,
        found: Option<&Record>,
    ) -> Claim {
        // From the beginning of the read: the answer may be older than its arrival.
        let since = self.asking.unwrap_or(now);
        let Some(record) = found.filter(|found| found.holder() == Some(identity)) else {
            self.not_granted = Some(since);
            self.refused = None;
            self.term = None;
            return Claim::Nothing;
        };
        let is_taken_up = record.acquire_time.is_some();
        let term = self.term.as_ref();
        let is_own = term.is_some_and(|term| record.acquire_time.as_ref() == Some(&term.acquired));
        let is_to_hand_over = record.preferred(identity).is_some();
        if is_own {
            return if is_to_hand_over {
                Claim::HandOver
            } else {
                Claim::Own
            };
        }
        let granted = record.renew_time.as_deref();
        let granted: Option<Timestamp> = granted.and_then(|time| time.parse().ok());
        let is_refused = granted.is_some() && granted == self.refused;
        match (granted, self.not_granted) {
            (Some(granted), Some(since)) if !is_taken_up && !is_to_hand_over && !is_refused => {
                self.refused = None;
                // After a write of unknown outcome it is the same term.
                if term.is_none_or(|term| term.granted != granted) {
                    self.term = Some(Term::new(granted, since, now));
                }
                Claim::Own
            }
            _ => {
                self.not_granted = Some(since);
                self.refused = granted;
                self.term = None;
                Claim::Stale
            }
        }
    }

    /// Notes that a write of this candidate's, begun at `begun`, took effect: another grant than its own is a later one.
    pub(super) fn on_written(&mut self, begun: Instant) {
        self.not_granted = Some(begun);
    }

    /// Returns this candidate's lease at `now`, after one that said `before`; `None` if it has no term.
    ///
    /// Its times are the coordinator's, who compares them with its own clock, and not before it.
    pub(super) fn record_after(
        &self,
        identity: &str,
        seconds: i32,
        before: &Record,
        now: Instant,
    ) -> Option<Record> {
        let term = self.term.as_ref()?;
        let transitions = match before.lease_transitions {
            Some(count) if before.acquire_time.is_none() => count.saturating_add(1),
            count => count.unwrap_or_default(),
        };
        Some(Record {
            holder_identity: Some(identity.to_owned()),
            lease_duration_seconds: Some(seconds),
            acquire_time: Some(term.acquired.clone()),
            renew_time: Some(micro_time(term.time(now))),
            lease_transitions: Some(transitions),
            preferred_holder: None,
        })
    }
}

// === impl Term ===

impl Term {
    fn new(granted: Timestamp, since: Instant, now: Instant) -> Self {
        let mut term = Self {
            granted,
            since,
            acquired: String::new(),
        };
        term.acquired = micro_time(term.time(now));
        term
    }

    /// Returns the latest time that the coordinator's clock may show.
    fn time(&self, now: Instant) -> Timestamp {
        let passed = now.saturating_duration_since(self.since);
        self.granted.checked_add(passed).unwrap_or(Timestamp::MAX)
    }
}
