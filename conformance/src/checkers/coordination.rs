//! Candidates wait for the server where it decides who leads, and the best one leads in the end.
//!
//! - A candidate writes itself as the holder only if the lease names it already: the server grants the lease, without a time
//!   of acquisition, and the candidate takes it up.
//! - A candidate that reads that another is preferred gives the lease up; `leaders` has the moment.
//! - Once nothing fails, one of the candidates that emulate the oldest version leads, among those that stand, and no other:
//!   those that have crashed are passed over, and a leader hands over to a better one.
//!
//! Writes of others are exempt. If one of them deletes the lease, its holder's next write makes it anew: an API server creates
//! leases that are to be updated.

use std::collections::BTreeSet;

use super::Finding;
use crate::trace::{ElectionEvent, LeaseState, Observation, Trace};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut versions: Option<&[u32]> = None;
    let meddled = meddled(trace);
    // The lease that others have deleted, until it is made anew.
    let mut deleted = None;
    for (number, (_, observation)) in trace.timed().enumerate() {
        let Observation::Election(event) = observation else {
            continue;
        };
        let text = match (event, versions) {
            (ElectionEvent::IsCoordinated { versions: told }, _) => {
                versions = Some(told);
                None
            }
            (
                ElectionEvent::LeaseChanged {
                    revision,
                    before,
                    after,
                },
                Some(_),
            ) => {
                let deleted_before = deleted.take();
                let before = before.as_ref().or(deleted_before);
                if after.is_none() {
                    deleted = before.filter(|_| meddled.contains(revision));
                }
                let after = after.as_ref().filter(|_| !meddled.contains(revision));
                let is_seized = after.is_some_and(|after| is_seized(before, after));
                is_seized.then(|| format!("{event}, which was not granted"))
            }
            (ElectionEvent::Settled { standing, leading }, Some(versions)) => {
                end(versions, standing, leading)
            }
            _ => None,
        };
        findings.extend(text.map(|text| Finding::at(number, text)));
    }
    findings
}

/// Returns whether the server decides who leads.
pub(super) fn is_coordinated(trace: &Trace) -> bool {
    let is_told = |seen: &Observation| {
        matches!(
            seen,
            Observation::Election(ElectionEvent::IsCoordinated { .. })
        )
    };
    trace.observations().any(is_told)
}

/// Returns the revisions that others wrote.
fn meddled(trace: &Trace) -> BTreeSet<u64> {
    let meddled = trace.observations().filter_map(|seen| match seen {
        Observation::Election(ElectionEvent::Meddled { revision, .. }) => *revision,
        _ => None,
    });
    meddled.collect()
}

/// Returns whether a candidate has taken what the lease did not name it for: only candidates write a time of acquisition.
fn is_seized(before: Option<&LeaseState>, after: &LeaseState) -> bool {
    let held_before = before.map_or("", |before| &before.holder);
    !after.holder.is_empty() && !after.acquired.is_empty() && *after.holder != *held_before
}

/// Describes an end in which not one of the best leads.
fn end(versions: &[u32], standing: &[usize], leading: &[usize]) -> Option<String> {
    let version = |candidate: &usize| versions.get(*candidate);
    let oldest = standing.iter().map(version).min()?;
    let is_good = |leader: &[usize]| leader.iter().all(|leader| version(leader) == oldest);
    let holds = leading.len() == 1 && is_good(leading);
    (!holds).then(|| format!("of the candidates {standing:?} at the end {leading:?} lead"))
}
