//! The pure core: whether a lease may be taken, and what is to be written to it.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    LeaderElectionOptions,
    coordinated::{Claim, Coordinated},
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
    /// The records of writes since then that may have taken effect, or may still: no success was reported.
    attempted: Vec<Record>,
    /// Present if a coordinator grants the lease.
    coordinated: Option<Coordinated>,
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
    /// Wait for the coordinator, who has not granted the lease to this candidate.
    Await { holder: String },
    /// Give up the lease, which is this candidate's, to the one that the coordinator prefers.
    HandOver { preferred: String },
    /// Write this, which gives back a lease that this candidate does not lead by.
    GiveBack(Record),
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
            coordinated: None,
        }
    }

    /// Leaves it to a coordinator who may take the lease.
    pub(super) fn coordinated(mut self) -> Self {
        self.coordinated = Some(Coordinated::default());
        self
    }

    /// Takes over what was seen of the lease before.
    pub(super) fn remember(&mut self, seen: Observation) {
        self.observed = Some(seen);
    }

    /// Returns the record that renews the lease without reading it first, if this candidate wrote to it last.
    pub(super) fn renewal(&self, now: Instant, wall: Timestamp) -> Option<Record> {
        let observed = self.observed.as_ref().filter(|_| self.leads)?;
        let is_valid = now < observed.since + self.lease_duration;
        is_valid.then(|| self.record_after(Some(&observed.record), now, wall))
    }

    /// A read of the lease begins.
    pub(super) fn on_asked(&mut self, now: Instant) {
        if let Some(coordinated) = &mut self.coordinated {
            coordinated.on_asked(now);
        }
    }

    /// The lease was read, or there is none.
    pub(super) fn on_read(
        &mut self,
        now: Instant,
        wall: Timestamp,
        found: Option<Record>,
    ) -> Decision {
        if let Some(coordinated) = &mut self.coordinated {
            let claim = coordinated.on_read(&self.identity, now, found.as_ref());
            return self.on_claim(claim, now, wall, found.unwrap_or_default());
        }
        let Some(record) = found else {
            return Decision::Take(self.record_after(None, now, wall));
        };
        let observed = Observation::after(self.observed.take(), now, record);
        let observed = self.observed.insert(observed);
        let record = &observed.record;
        let left = observed.left(now);
        match record.holder() {
            // A lease of this candidate's own name is taken at once, as after its restart.
            Some(holder) if holder != self.identity && !left.is_zero() => {
                self.leads = false;
                Decision::Leave {
                    holder: holder.to_owned(),
                    left,
                }
            }
            _ => {
                let record = record.clone();
                Decision::Take(self.record_after(Some(&record), now, wall))
            }
        }
    }

    /// Decides by the right to a lease that a coordinator grants.
    fn on_claim(
        &mut self,
        claim: Claim,
        now: Instant,
        wall: Timestamp,
        record: Record,
    ) -> Decision {
        let observed = Observation::after(self.observed.take(), now, record.clone());
        self.observed = Some(observed);
        // What was read can be written to next, without another read.
        self.leads = claim == Claim::HandOver;
        let holder = record.holder().unwrap_or_default().to_owned();
        match claim {
            Claim::Nothing => Decision::Await { holder },
            Claim::Own => Decision::Take(self.record_after(Some(&record), now, wall)),
            Claim::HandOver => Decision::HandOver {
                preferred: record.preferred_holder.unwrap_or_default(),
            },
            Claim::Stale => Decision::GiveBack(without_holder(&record, wall)),
        }
    }

    /// The lease says `record` since the write that was begun at `begun`.
    pub(super) fn on_written(&mut self, begun: Instant, record: Record) {
        if let Some(coordinated) = &mut self.coordinated {
            coordinated.on_written(begun);
        }
        self.leads = record.holder() == Some(&self.identity);
        self.observed = Some(Observation {
            record,
            // The earliest moment at which the write took effect: the lease must not count as valid for longer than
            // others count it.
            since: begun,
        });
        self.attempted.clear();
    }

    /// Notes that a write was begun, so that the state of the lease is unknown until [it is done](Self::on_written): unless
    /// that is reported, the lease is read before the next write.
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
    /// The record has to be what this leadership has written, whatever the holder's name: the same candidate may lead again.
    pub(super) fn release_of(&self, found: &Record, wall: Timestamp) -> Option<Record> {
        let observed = self.observed.iter().map(|observed| &observed.record);
        // With the attempts, since a write without an answer may have taken effect.
        let mut own_records = observed.chain(&self.attempted);
        let is_known = own_records.any(|own| own.is_same_term(found));
        let is_own = is_known && found.holder() == Some(&self.identity);
        is_own.then(|| without_holder(found, wall))
    }

    pub(super) fn transitions(&self) -> i32 {
        let observed = self.observed.as_ref();
        observed.map_or(0, |observed| observed.record.transitions())
    }

    /// This candidate's lease, after one that said `before`.
    fn record_after(&self, before: Option<&Record>, now: Instant, wall: Timestamp) -> Record {
        let seconds = i32::try_from(self.lease_duration.as_secs()).unwrap_or(i32::MAX);
        if let (Some(coordinated), Some(before)) = (&self.coordinated, before)
            && let Some(record) = coordinated.record_after(&self.identity, seconds, before, now)
        {
            return record;
        }
        let now = micro_time(wall);
        let is_renewal = before.is_some_and(|before| before.holder() == Some(&self.identity));
        let acquired = before.filter(|_| is_renewal);
        let acquired = acquired.and_then(|before| before.acquire_time.clone());
        let transitions = match before {
            None => 0,
            Some(before) if is_renewal => before.transitions(),
            Some(before) => before.transitions().saturating_add(1),
        };
        Record {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(seconds),
            acquire_time: Some(acquired.unwrap_or_else(|| now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
            preferred_holder: before.and_then(|before| before.preferred_holder.clone()),
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
        preferred_holder: before.preferred_holder.clone(),
    }
}
