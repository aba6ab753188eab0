//! A leader election beside the informers: candidates for one lease, and what happens to them.

use fakeserver::faults::Fault;
use serde::{Deserialize, Serialize};

use super::PlannedFault;

/// A leader election: its durations, its candidates, and the disturbances of both.
///
/// It runs on the paused clock only, on simulated servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Election {
    /// The time after which a lease that is not renewed may be taken, in whole seconds.
    pub lease_ms: u64,
    /// The time for which a leader that cannot renew stays one.
    pub renew_ms: u64,
    /// The pause between two attempts.
    pub retry_ms: u64,
    /// True if the server decides who leads (coordinated leader election).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_coordinated: bool,
    /// The candidates.
    pub candidates: Vec<CandidatePlan>,
    /// The faults of their requests alone, in order of time. Those of a plan that hit all informers hit them, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<CandidateFault>,
    /// The writes of others to the lease, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meddlings: Vec<Meddling>,
}

/// A candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CandidatePlan {
    /// The time of its start.
    pub start_ms: u64,
    /// The number of seconds by which its wall clock is ahead.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_ahead_s: i64,
    /// The minor version that it emulates: if the server decides, those with the oldest are the best.
    #[serde(default, skip_serializing_if = "is_oldest")]
    pub emulates: u32,
    /// Its end before that of the run, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<CandidateStop>,
}

/// The end of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CandidateStop {
    /// The time.
    pub at_ms: u64,
    /// The kind of end.
    pub kind: StopKind,
    /// The time at which it stands again under the same name, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<u64>,
}

/// The kinds of ends of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StopKind {
    /// It releases its leadership and waits for that.
    Release,
    /// It drops its leadership.
    Drop,
    /// Its process dies. Requests that it has sent may still take effect.
    Crash,
}

/// A fault of the requests of candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CandidateFault {
    /// Its beginning.
    pub at_ms: u64,
    /// Its duration.
    pub for_ms: u64,
    /// The candidate that it affects, by its place in the plan; all if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<usize>,
    /// The most firings; unlimited if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// The fault.
    pub kind: Fault,
}

/// A write to the lease by somebody who is no candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Meddling {
    /// The time.
    pub at_ms: u64,
    /// The kind of write.
    pub kind: MeddlingKind,
}

/// The kinds of writes to a lease by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MeddlingKind {
    /// The lease is deleted.
    Delete,
    /// It gets another holder, who never renews it.
    Seize,
    /// It gets no holder.
    Clear,
    /// It gets an annotation, which changes its version only.
    Touch,
}

// === impl Election ===

impl Election {
    /// Creates an election of candidates that stand all the time, with client-go's durations.
    pub fn of(candidate_count: usize) -> Self {
        Self {
            lease_ms: 15_000,
            renew_ms: 10_000,
            retry_ms: 2_000,
            is_coordinated: false,
            candidates: vec![CandidatePlan::default(); candidate_count],
            faults: Vec::new(),
            meddlings: Vec::new(),
        }
    }

    /// Returns the time for which a task may give back a lease whose leader was dropped, in milliseconds: that of a renewal.
    pub(crate) fn giving_back_ms(&self) -> u64 {
        let mut stops = (self.candidates.iter()).filter_map(|candidate| candidate.stop);
        if stops.any(|stop| stop.kind == StopKind::Drop) {
            self.renew_ms
        } else {
            0
        }
    }

    /// Replaces every moment by the result of `new`. Times that follow from a lease's durations stay.
    pub(super) fn map_moments(&mut self, mut new: impl FnMut(u64) -> u64) {
        for candidate in &mut self.candidates {
            candidate.start_ms = new(candidate.start_ms);
            if let Some(stop) = &mut candidate.stop {
                stop.at_ms = new(stop.at_ms);
                stop.again_ms = stop.again_ms.map(&mut new);
            }
        }
        for fault in &mut self.faults {
            let until = new(fault.at_ms + fault.for_ms);
            fault.at_ms = new(fault.at_ms);
            fault.for_ms = until.saturating_sub(fault.at_ms);
        }
        for meddling in &mut self.meddlings {
            meddling.at_ms = new(meddling.at_ms);
        }
    }
}

// === impl CandidateFault ===

impl CandidateFault {
    /// Returns the fault `kind` for all candidates, at every occasion from `at_ms` on for `for_ms`.
    pub fn new(at_ms: u64, for_ms: u64, kind: Fault) -> Self {
        Self {
            at_ms,
            for_ms,
            candidate: None,
            times: None,
            kind,
        }
    }

    /// Returns the same fault for an injector whose clients are the candidates.
    pub(crate) fn planned(&self) -> PlannedFault {
        PlannedFault {
            informer: self.candidate,
            times: self.times,
            ..PlannedFault::new(self.at_ms, self.for_ms, self.kind)
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(seconds: &i64) -> bool {
    *seconds == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_oldest(version: &u32) -> bool {
    *version == 0
}
