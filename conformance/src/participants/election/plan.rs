//! A leader election beside the informers: candidates for one lease, and what happens to them.

use std::ops::Range;

use fakeserver::{FakeServerBuilder, faults::Fault};
use serde::{Deserialize, Serialize};

use super::{
    Candidacy, coordination, draw, elections, event::ElectionEvent, leaders, run::Election,
};
use crate::{
    checkers::Checker,
    participants::{
        participant::{Draft, Host, Part, Participant, PlanSection},
        renumber, simplify, within,
    },
    plan::{PlannedFault, Profile},
    trace::Concern,
};

/// The most candidates of an election, their faults, and the writes of others.
const CANDIDATES_MAX: usize = 4;
const FAULTS_MAX: usize = 8;
const MEDDLINGS_MAX: usize = 4;

const CANDIDATE_OPTIONS: [fn(&mut CandidatePlan); 4] = [
    |candidate| candidate.stop = None,
    |candidate| {
        if let Some(stop) = &mut candidate.stop {
            stop.again_ms = None;
        }
    },
    |candidate| candidate.clock_ahead_s = 0,
    |candidate| candidate.emulates = 0,
];

const FAULT_OPTIONS: [fn(&mut CandidateFault); 2] = [
    |fault| fault.times = Some(1),
    |fault| fault.candidate = None,
];

/// An act of an election; numbers are places in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    Stop(usize),
    Start(usize),
    BeginFault(usize),
    EndFault(usize),
    Meddle(usize),
}

/// A leader election: its durations, its candidates, and the disturbances of both.
///
/// It runs on the paused clock only, on simulated servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ElectionPlan {
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
    pub meddlings: Vec<ForeignWrite>,
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
pub struct ForeignWrite {
    /// The time.
    pub at_ms: u64,
    /// The kind of write.
    pub kind: ForeignWriteKind,
}

/// The kinds of writes to a lease by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ForeignWriteKind {
    /// The lease is deleted.
    Delete,
    /// It gets another holder, who never renews it.
    Seize,
    /// It gets no holder.
    Clear,
    /// It gets an annotation, which changes its version only.
    Touch,
}

// === impl ElectionPlan ===

impl ElectionPlan {
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

    /// Removes candidates, and the faults that concern no others, and renumbers the rest.
    fn take_candidates(&mut self, range: Range<usize>) {
        self.candidates.drain(range.clone());
        self.faults.retain_mut(|fault| {
            let candidate = fault.candidate.as_mut();
            candidate.is_none_or(|candidate| renumber(candidate, &range))
        });
    }

    /// Chooses durations that belong together, and are of a run of this length.
    fn limit_durations(&mut self, safety_ms: u64) -> Option<()> {
        let given = (self.lease_ms, self.renew_ms, self.retry_ms);
        let fitting = draw::durations(safety_ms);
        if !fitting.contains(&given) {
            let same_lease = fitting.iter().find(|(lease_ms, ..)| *lease_ms == given.0);
            (self.lease_ms, self.renew_ms, self.retry_ms) =
                *same_lease.or_else(|| fitting.last())?;
        }
        Some(())
    }
}

impl PlanSection for ElectionPlan {
    type Act = Act;

    const OPTIONS: &'static [Part<Self>] = &[
        Part {
            len: |election| election.candidates.len() * CANDIDATE_OPTIONS.len(),
            take: |election, range| simplify(&mut election.candidates, &CANDIDATE_OPTIONS, &range),
        },
        Part {
            len: |election| election.faults.len() * FAULT_OPTIONS.len(),
            take: |election, range| simplify(&mut election.faults, &FAULT_OPTIONS, &range),
        },
    ];
    const PARTS: &'static [Part<Self>] = &[
        Part {
            len: |election| election.candidates.len(),
            take: Self::take_candidates,
        },
        Part {
            len: |election| election.faults.len(),
            take: |election, range| drop(election.faults.drain(range)),
        },
        Part {
            len: |election| election.meddlings.len(),
            take: |election, range| drop(election.meddlings.drain(range)),
        },
    ];

    fn made_valid(mut self, _profile: Profile, safety_ms: u64) -> Option<Self> {
        self.candidates.truncate(CANDIDATES_MAX);
        self.faults.truncate(FAULTS_MAX);
        self.meddlings.truncate(MEDDLINGS_MAX);
        let candidate_count = self.candidates.len();
        if candidate_count < 2 {
            return None;
        }
        self.limit_durations(safety_ms)?;
        for candidate in &mut self.candidates {
            candidate.start_ms = within(candidate.start_ms, safety_ms);
            let start_ms = candidate.start_ms;
            if let Some(stop) = &mut candidate.stop {
                stop.at_ms = within(stop.at_ms, safety_ms);
                let at_ms = stop.at_ms;
                stop.again_ms = stop.again_ms.map(|again_ms| within(again_ms, safety_ms));
                stop.again_ms = stop.again_ms.filter(|again_ms| *again_ms > at_ms);
            }
            candidate.stop = candidate.stop.filter(|stop| stop.at_ms > start_ms);
        }
        for fault in &mut self.faults {
            fault.at_ms = within(fault.at_ms, safety_ms);
            fault.candidate = fault.candidate.map(|candidate| candidate % candidate_count);
        }
        for meddling in &mut self.meddlings {
            meddling.at_ms = within(meddling.at_ms, safety_ms);
        }
        self.faults.sort_by_key(|fault| fault.at_ms);
        self.meddlings.sort_by_key(|meddling| meddling.at_ms);
        Some(self)
    }

    fn is_void(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Times that follow from a lease's durations stay.
    fn map_moments(&mut self, new: &mut dyn FnMut(u64) -> u64) {
        for candidate in &mut self.candidates {
            candidate.start_ms = new(candidate.start_ms);
            if let Some(stop) = &mut candidate.stop {
                stop.at_ms = new(stop.at_ms);
                stop.again_ms = stop.again_ms.map(&mut *new);
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

    fn acts(&self) -> Vec<(u64, Act)> {
        let mut acts = Vec::new();
        for (place, candidate) in self.candidates.iter().enumerate() {
            acts.push((candidate.start_ms, Act::Start(place)));
            if let Some(stop) = candidate.stop {
                acts.push((stop.at_ms, Act::Stop(place)));
                acts.extend(stop.again_ms.map(|again_ms| (again_ms, Act::Start(place))));
            }
        }
        for (place, fault) in self.faults.iter().enumerate() {
            acts.push((fault.at_ms, Act::BeginFault(place)));
            acts.push((fault.at_ms + fault.for_ms, Act::EndFault(place)));
        }
        let meddlings = self.meddlings.iter().enumerate();
        acts.extend(meddlings.map(|(place, meddling)| (meddling.at_ms, Act::Meddle(place))));
        acts
    }
}

impl Participant for ElectionPlan {
    type Run = Election;

    const CHECKERS: &'static [Checker] = &[
        Checker::of_participant(
            "leaders",
            "at most one candidate leads at a time, and only for as long as it could renew its lease",
            leaders::check,
            |seen| matches!(seen.event(), Some(ElectionEvent::Leads { .. })),
        ),
        Checker::of_participant(
            "elections",
            "candidates take and return a lease by the rules, and somebody leads soon",
            elections::check,
            |seen| matches!(seen.event(), Some(ElectionEvent::LeaseChanged { .. })),
        ),
        Checker::of_participant(
            "coordination",
            "where the server decides, nobody takes a lease that was not granted, and one of the best leads in the end",
            coordination::check,
            |seen| matches!(seen.event(), Some(ElectionEvent::Settled { .. })),
        ),
    ];

    fn draw(draft: &Draft<'_>) -> Option<Self> {
        draw::draw(draft)
    }

    fn clients(&self) -> Vec<String> {
        let candidates = 0..self.candidates.len();
        let first = candidates.map(|candidate| Candidacy {
            candidate,
            number: 0,
        });
        first.map(Candidacy::name).collect()
    }

    fn configure(&self, server: FakeServerBuilder) -> FakeServerBuilder {
        server.with_coordinated_leader_election(self.is_coordinated)
    }

    /// A task may give back a lease whose leader was dropped, for as long as a renewal takes.
    fn lingering_ms(&self) -> u64 {
        let mut stops = (self.candidates.iter()).filter_map(|candidate| candidate.stop);
        if stops.any(|stop| stop.kind == StopKind::Drop) {
            self.renew_ms
        } else {
            0
        }
    }

    fn concern(finding: &str) -> Option<Concern> {
        let mut words = finding.split(' ').skip_while(|word| *word != "candidate");
        if words.next().is_some() {
            // Texts name a candidacy by its candidate and its number, as in 2.1.
            let number = words.next().and_then(|word| word.split('.').next());
            let number = number.and_then(|number| number.parse().ok());
            return Some(number.map_or(Concern::All, Concern::One));
        }
        let is_of_all = |word: &str| ["lease", "candidates", "leads"].contains(&word);
        finding.split(' ').any(is_of_all).then_some(Concern::All)
    }

    fn enter(&self, host: &mut Host<'_>) -> Election {
        Election::new(self, host)
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
    pub(super) fn planned(&self) -> PlannedFault {
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
