//! The pure core: whether a lease may be taken, and what is to be written to it.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    LeaderElectionOptions,
    record::{Record, micro_time},
};

/// A candidate's knowledge of the lease.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    identity: String,
    lease_duration: Duration,
    observed: Option<Observation>,
    /// The lease was this candidate's when it was written last, at the observed version.
    leads: bool,
    /// The records of writes since then that may have taken effect, or may still: no success was heard of.
    attempted: Vec<Record>,
}

/// The lease, and since when it has said so. Its own times are another machine's, and are not looked at.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    pub(crate) record: Record,
    pub(crate) since: Instant,
}

/// The next step after a lease was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Write this.
    Take(Record),
    /// Leave it to its holder, who has it for so much longer if it is not renewed.
    Leave { holder: String, left: Duration },
}

// === impl Machine ===

impl Machine {
    pub(super) fn new(identity: &str, options: &LeaderElectionOptions) -> Self {
        Self {
            identity: identity.to_owned(),
            lease_duration: options.lease_duration,
            observed: None,
            leads: false,
            attempted: Vec::new(),
        }
    }

    /// Takes over what was seen of the lease before.
    pub(super) fn remember(&mut self, seen: Observation) {
        self.observed = Some(seen);
    }

    /// Returns the record that renews the lease without reading it first, if this candidate wrote to it last.
    pub(super) fn renewal(&self, now: Instant, wall: Timestamp) -> Option<Record> {
        let observed = self.observed.as_ref().filter(|_| self.leads)?;
        let is_valid = now < observed.since + self.lease_duration;
        is_valid.then(|| self.record_after(Some(&observed.record), wall))
    }

    /// The lease was read, or there is none.
    pub(super) fn on_read(
        &mut self,
        now: Instant,
        wall: Timestamp,
        found: Option<Record>,
    ) -> Decision {
        let Some(record) = found else {
            return Decision::Take(self.record_after(None, wall));
        };
        let observed = Observation::after(self.observed.take(), now, record);
        let observed = self.observed.insert(observed);
        let record = &observed.record;
        let left = observed.left(now);
        match record.holder() {
            Some(holder) if holder != self.identity && !left.is_zero() => {
                self.leads = false;
                Decision::Leave {
                    holder: holder.to_owned(),
                    left,
                }
            }
            _ => {
                let record = record.clone();
                Decision::Take(self.record_after(Some(&record), wall))
            }
        }
    }

    /// The lease says `record` since the write that was begun at `begun`.
    pub(super) fn on_written(&mut self, begun: Instant, record: Record) {
        self.leads = record.holder() == Some(&self.identity);
        self.observed = Some(Observation {
            record,
            since: begun,
        });
        self.attempted.clear();
    }

    /// Notes that a write was begun, so that the state of the lease is unknown until [it is done](Self::on_written): unless
    /// that is heard of, the lease is read before the next write.
    pub(super) fn on_write_begun(&mut self, record: Record) {
        self.leads = false;
        self.attempted.push(record);
    }

    /// Forgets the writes that failed, since nothing was acquired by them that could be given back.
    pub(super) fn forget_attempts(&mut self) {
        self.attempted.clear();
    }

    /// Returns the record that gives the lease back, if this candidate wrote to it last; `None` if it has to be read first.
    pub(super) fn release(&self, wall: Timestamp) -> Option<Record> {
        let observed = self.observed.as_ref().filter(|_| self.leads)?;
        Some(without_holder(&observed.record, wall))
    }

    /// Returns the record that gives back the lease that was `found`; `None` if it is not this leadership's to give.
    ///
    /// It has to be what this leadership has written, whatever the holder's name: the same candidate may lead again.
    pub(super) fn release_of(&self, found: &Record, wall: Timestamp) -> Option<Record> {
        let observed = self.observed.iter().map(|observed| &observed.record);
        let is_known = observed.chain(&self.attempted).any(|own| own == found);
        let is_own = is_known && found.holder() == Some(&self.identity);
        is_own.then(|| without_holder(found, wall))
    }

    pub(super) fn transitions(&self) -> i32 {
        let observed = self.observed.as_ref();
        observed.map_or(0, |observed| observed.record.transitions())
    }

    /// This candidate's lease, after one that said `before`.
    fn record_after(&self, before: Option<&Record>, wall: Timestamp) -> Record {
        let now = micro_time(wall);
        let is_renewal = before.is_some_and(|before| before.holder() == Some(&self.identity));
        let acquired = before.filter(|_| is_renewal);
        let acquired = acquired.and_then(|before| before.acquire_time.clone());
        let transitions = match before {
            None => 0,
            Some(before) if is_renewal => before.transitions(),
            Some(before) => before.transitions().saturating_add(1),
        };
        let seconds = i32::try_from(self.lease_duration.as_secs());
        Record {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(seconds.unwrap_or(i32::MAX)),
            acquire_time: Some(acquired.unwrap_or_else(|| now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
        }
    }
}

// === impl Observation ===

impl Observation {
    /// Returns what was `found`, observed since `now`, or since before if it says the same.
    pub(crate) fn after(before: Option<Self>, now: Instant, found: Record) -> Self {
        let same = before.filter(|before| before.record == found);
        same.unwrap_or(Self {
            record: found,
            since: now,
        })
    }

    /// Returns for how long the lease is still its holder's, if it is not renewed.
    pub(crate) fn left(&self, now: Instant) -> Duration {
        (self.since + self.record.duration()).saturating_duration_since(now)
    }

    /// Returns the holder, if the lease is still its own.
    pub(crate) fn holder(&self, now: Instant) -> Option<&str> {
        self.record.holder().filter(|_| !self.left(now).is_zero())
    }
}

/// The record of a lease that was given back: without a holder, and for a second.
fn without_holder(before: &Record, wall: Timestamp) -> Record {
    Record {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(micro_time(wall)),
        renew_time: Some(micro_time(wall)),
        lease_transitions: Some(before.transitions()),
    }
}
