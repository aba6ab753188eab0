//! Candidates take and return a lease by the rules, and somebody leads soon.
//!
//! - A candidate takes the lease of another only if it has read the same content for as long as the lease lasts, by the one
//!   clock of the run: the times in the lease are of other clocks, and play no part. It may take its own at once, and one
//!   without a holder.
//! - The transitions count up by one with each change of the holder, and a renewal leaves them and the time of acquisition as
//!   they are. No candidate deletes the lease, and only its last leader removes the holder, once it has given up.
//! - A candidate that releases or drops a leadership before its deadline does not hold the lease any more when its last request has been answered,
//!   if none failed.
//! - An attempt has three requests at most, and a retry period passes before the next one.
//! - If nothing fails, somebody leads within two attempts and the duration of the lease after its last change, and within one
//!   attempt if it has no holder. The time of an attempt is the retry period with its jitter.
//!
//! Writes of other clients are exempt, and restart a wait.

mod attempts;
mod lease_rules;
mod vacancies;

use std::time::Duration;

use self::{attempts::Attempts, lease_rules::LeaseRules, vacancies::Vacancies};
use super::{Candidacy, ElectionEvent, LeaseState, StopKind, coordination};
use crate::{
    checkers::{Finding, clock_leaps::ClockLeaps},
    trace::{Observation, Trace},
};

/// The resolution of timers.
const TICK: Duration = Duration::from_millis(2);

/// Finds violations of the [module](self)'s invariant.
pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    // Candidates take nothing by themselves then.
    if coordination::is_coordinated(trace) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut rules = LeaseRules::of(trace);
    let mut attempts = Attempts::default();
    let mut vacancies = Vacancies::default();
    let mut leaps = ClockLeaps::default();
    for (number, (at, observation)) in trace.timed().enumerate() {
        let has_leapt = leaps.observe(at, observation);
        let mut texts: Vec<String> = vacancies
            .observe(at, observation, has_leapt)
            .into_iter()
            .collect();
        texts.extend(rules.unreturned(at));
        if let Some(event) = observation.event() {
            texts.extend(attempts.observe(at, event));
            texts.extend(rules.observe(at, event, leaps.is_waking(at)));
        }
        findings.extend(texts.into_iter().map(|text| Finding::at(number, text)));
    }
    findings
}

/// The lease as a candidate reads it, and since when it has read the same.
struct ObservedLease {
    lease: LeaseState,
    since: Duration,
}

// === impl ObservedLease ===

impl ObservedLease {
    /// Takes what a candidate has read.
    fn update(seen: &mut Option<Self>, lease: &LeaseState, at: Duration) {
        let is_known = seen
            .as_ref()
            .is_some_and(|seen| seen.lease.says_the_same(lease));
        if !is_known {
            *seen = Some(Self {
                lease: lease.clone(),
                since: at,
            });
        }
    }
}

/// Returns true if a candidacy is that of the holder of a lease.
fn is_held_by(lease: &LeaseState, candidacy: Candidacy) -> bool {
    *lease.holder == *candidacy.name()
}
