//! Candidates wait for the server where it decides who leads, and the best one leads in the end.
//!
//! - A candidate writes itself as the holder only if the lease names it already: the server grants the lease, without a time
//!   of acquisition, and the candidate takes it up.
//! - A candidate that reads that another is preferred gives the lease up; `leaders` has the moment.
//! - Once nothing fails, one of the candidates that emulate the oldest version leads, among those that stand, and no other:
//!   those that have crashed are passed over, and a leader hands over to a better one.
//!
//! Writes of others are exempt. If one of them deletes the lease, the next write of one who has held it, or to whom it was
//! granted by then, creates it again: an API server creates leases that are to be updated. One from whom they have taken it may
//! not know of that until its deadline, before which the end is not judged.

use std::{collections::BTreeSet, time::Duration};

use super::{ElectionEvent, LeaseState};
use crate::{
    checkers::Finding,
    trace::{Observation, Trace},
};

/// Finds violations of the [module](self)'s invariant.
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut coordination = Coordination {
        meddled: meddled(trace),
        ..Coordination::default()
    };
    for (number, (at, observation)) in trace.timed().enumerate() {
        if let Some(event) = observation.event() {
            let text = coordination.observe(at, event);
            findings.extend(text.map(|text| Finding::at(number, text)));
        }
    }
    findings
}

/// The lease so far.
#[derive(Default)]
struct Coordination<'a> {
    /// The versions that the candidates emulate; `None` unless the server decides who leads.
    versions: Option<&'a [u32]>,
    renew: Duration,
    /// The revisions that others wrote.
    meddled: BTreeSet<u64>,
    /// The time of the last one.
    meddled_at: Option<Duration>,
    lease: Option<&'a LeaseState>,
    /// True if another client has deleted the lease, until it is created again.
    is_deleted: bool,
    /// Those to whom the server has granted it, until they take it up.
    granted: BTreeSet<&'a str>,
    /// The holders of the lease and their times of acquisition.
    terms: BTreeSet<(&'a str, &'a str)>,
}

// === impl Coordination ===

impl<'a> Coordination<'a> {
    fn observe(&mut self, at: Duration, event: &'a ElectionEvent) -> Option<String> {
        match event {
            ElectionEvent::Begins { renew, .. } => {
                self.renew = *renew;
                None
            }
            ElectionEvent::IsCoordinated { versions } => {
                self.versions = Some(versions);
                None
            }
            ElectionEvent::LeaseChanged {
                revision, after, ..
            } if self.versions.is_some() => {
                let is_seized = self.change(at, *revision, after.as_ref());
                is_seized.then(|| format!("{event}, which was not granted"))
            }
            ElectionEvent::Settled { standing, leading } => {
                let versions = self.versions.filter(|_| !self.is_unsettled(at))?;
                end(versions, standing, leading)
            }
            _ => None,
        }
    }

    /// Takes a change of the lease. Returns whether a candidate has taken what the lease did not name it for: only candidates
    /// write a time of acquisition.
    fn change(&mut self, at: Duration, revision: u64, after: Option<&'a LeaseState>) -> bool {
        let before = std::mem::replace(&mut self.lease, after);
        if self.meddled.contains(&revision) {
            self.meddled_at = Some(at);
            self.is_deleted = after.is_none();
            return false;
        }
        let was_deleted = std::mem::take(&mut self.is_deleted);
        let Some(after) = after.filter(|after| !after.holder.is_empty()) else {
            return false;
        };
        if after.acquired.is_empty() {
            self.granted.insert(&after.holder);
            return false;
        }
        let is_new = self.terms.insert((&after.holder, &after.acquired));
        let was_granted = self.granted.remove(&*after.holder);
        let goes_on = was_deleted && (!is_new || was_granted);
        !goes_on && before.is_none_or(|before| before.holder != after.holder)
    }

    /// Returns whether others have written to the lease so shortly before that a leader may not know of it yet.
    fn is_unsettled(&self, at: Duration) -> bool {
        self.meddled_at
            .is_some_and(|meddled| at < meddled + self.renew)
    }
}

/// Returns whether the server decides who leads.
pub(super) fn is_coordinated(trace: &Trace) -> bool {
    let is_reported =
        |seen: &Observation| matches!(seen.event(), Some(ElectionEvent::IsCoordinated { .. }));
    trace.observations().any(is_reported)
}

/// Returns the revisions that others wrote.
fn meddled(trace: &Trace) -> BTreeSet<u64> {
    let meddled = trace.observations().filter_map(|seen| match seen.event() {
        Some(ElectionEvent::Meddled { revision, .. }) => *revision,
        _ => None,
    });
    meddled.collect()
}

/// Describes an end in which not one of the best leads.
fn end(versions: &[u32], standing: &[usize], leading: &[usize]) -> Option<String> {
    let version = |candidate: &usize| versions.get(*candidate);
    let oldest = standing.iter().map(version).min()?;
    let is_good = |leader: &[usize]| leader.iter().all(|leader| version(leader) == oldest);
    let holds = leading.len() == 1 && is_good(leading);
    (!holds).then(|| format!("of the candidates {standing:?} at the end {leading:?} lead"))
}
