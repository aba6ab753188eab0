//! Draws the election of a plan, by a stream of its own.

use fakeserver::faults::{Fault, LostAnswer, LostAnswerForm, SlowWebhook};
use rand::{RngExt, rngs::ChaCha8Rng};

use super::{
    CandidateFault, CandidatePlan, CandidateStop, ElectionPlan, ForeignWrite, ForeignWriteKind,
    StopKind,
};
use crate::{
    participants::Draft,
    plan::{
        Profile,
        swarm::{pick, some_of},
    },
};

/// The durations of leases with their renew deadlines and retry periods, client-go's among them.
const DURATIONS_MS: [(u64, u64, u64); 4] = [
    (6_000, 4_000, 1_000),
    (9_000, 8_000, 3_000),
    (15_000, 10_000, 2_000),
    (30_000, 20_000, 5_000),
];
/// The most retry periods in a run, which bounds the number of requests.
const PERIODS_MAX: u64 = 120;
/// The largest differences of wall clocks: none, seconds, and half a day.
const SKEWS_S: [i64; 4] = [0, 30, 43_200, 43_200];
/// The times of slow writes, below and above every limit of a request.
const SLOW_MS: [u64; 6] = [200, 1_000, 3_000, 6_000, 12_000, 25_000];

/// A fault of candidates before its parameters are drawn.
#[derive(Clone, Copy)]
enum FaultKind {
    SlowWrite,
    LostAnswer,
    Named(&'static str),
}

const MISHAPS: [FaultKind; 11] = [
    FaultKind::SlowWrite,
    FaultKind::LostAnswer,
    FaultKind::Named("slow_headers"),
    FaultKind::Named("conflict"),
    FaultKind::Named("already_exists"),
    FaultKind::Named("denied"),
    FaultKind::Named("throttle"),
    FaultKind::Named("server_error"),
    FaultKind::Named("connection_refused"),
    FaultKind::Named("latency"),
    FaultKind::Named("hang"),
];

/// Draws the election of a plan: none in most runs.
pub(super) fn draw(draft: &Draft<'_>) -> Option<ElectionPlan> {
    let (seed, safety_ms) = (draft.seed, draft.safety_ms);
    let rng = &mut seed.stream("election");
    if rng.random_range(0..plans_per_election(draft.profile)) > 0 {
        return None;
    }
    let (lease_ms, renew_ms, retry_ms) = pick(rng, &durations(safety_ms));
    let election = ElectionPlan {
        lease_ms,
        renew_ms,
        retry_ms,
        is_coordinated: false,
        candidates: candidates(rng, safety_ms),
        meddlings: meddlings(rng, safety_ms),
        faults: faults(rng, safety_ms, lease_ms, renew_ms),
    };
    Some(coordinated(
        &mut seed.stream("coordinated election"),
        election,
    ))
}

/// Returns the number of plans of which one has an election, which takes as many requests as all else in a small plan.
const fn plans_per_election(profile: Profile) -> u32 {
    match profile {
        Profile::Small => 12,
        Profile::Brief | Profile::Medium | Profile::Large => 3,
    }
}

/// Lets the server decide in two fifths of the elections.
fn coordinated(rng: &mut ChaCha8Rng, mut election: ElectionPlan) -> ElectionPlan {
    election.is_coordinated = rng.random_bool(0.4);
    if election.is_coordinated {
        for candidate in &mut election.candidates {
            candidate.emulates = rng.random_range(0..3);
        }
    }
    election
}

/// Returns the durations of leases for runs of this length, with their renew deadlines and retry periods.
pub(super) fn durations(safety_ms: u64) -> Vec<(u64, u64, u64)> {
    let fits = |(lease_ms, _, retry_ms): &(u64, u64, u64)| {
        *lease_ms <= safety_ms && retry_ms * PERIODS_MAX >= safety_ms
    };
    DURATIONS_MS.into_iter().filter(fits).collect()
}

fn candidates(rng: &mut ChaCha8Rng, safety_ms: u64) -> Vec<CandidatePlan> {
    let count = rng.random_range(2..=4);
    let skew_s = pick(rng, &SKEWS_S);
    let late = pick(rng, &[0.0, 0.3, 0.8]);
    let stops = pick(rng, &[0.0, 0.5, 0.5, 1.0]);
    let kinds = [StopKind::Release, StopKind::Drop, StopKind::Crash];
    let kinds = some_of(rng, &kinds, 0.6);
    let mut candidate = || {
        let start_ms = if rng.random_bool(late) {
            rng.random_range(0..safety_ms / 2)
        } else {
            0
        };
        let clock_ahead_s = rng.random_range(-skew_s..=skew_s);
        let stop = rng.random_bool(stops).then(|| {
            let at_ms = rng.random_range(start_ms + 1..safety_ms);
            let again_ms = rng
                .random_bool(0.6)
                .then(|| rng.random_range(at_ms + 1..=safety_ms));
            CandidateStop {
                at_ms,
                kind: pick(rng, &kinds),
                again_ms,
            }
        });
        CandidatePlan {
            start_ms,
            clock_ahead_s,
            emulates: 0,
            stop,
        }
    };
    (0..count).map(|_| candidate()).collect()
}

/// Draws the writes of others to the lease: none in half of the elections.
fn meddlings(rng: &mut ChaCha8Rng, safety_ms: u64) -> Vec<ForeignWrite> {
    let count = pick(rng, &[0, 0, 0, 1, 2, 3]);
    let kinds = [
        ForeignWriteKind::Delete,
        ForeignWriteKind::Seize,
        ForeignWriteKind::Clear,
        ForeignWriteKind::Touch,
    ];
    let kinds = some_of(rng, &kinds, 0.6);
    let mut meddlings: Vec<ForeignWrite> = (0..count)
        .map(|_| ForeignWrite {
            at_ms: rng.random_range(1..safety_ms),
            kind: pick(rng, &kinds),
        })
        .collect();
    meddlings.sort_by_key(|meddling| meddling.at_ms);
    meddlings
}

/// Draws the faults of candidates, slow writes in particular, and an outage in some elections.
fn faults(
    rng: &mut ChaCha8Rng,
    safety_ms: u64,
    lease_ms: u64,
    renew_ms: u64,
) -> Vec<CandidateFault> {
    let count = pick(rng, &[0, 1, 2, 4]);
    let mut mishaps = some_of(rng, &MISHAPS, 0.3);
    if rng.random_bool(0.5) {
        mishaps.push(FaultKind::SlowWrite);
    }
    let for_one = pick(rng, &[0.0, 0.5, 1.0]);
    let candidate_max = 2;
    let mut faults: Vec<CandidateFault> = (0..count)
        .map(|_| CandidateFault {
            at_ms: rng.random_range(0..safety_ms),
            for_ms: rng.random_range(100..=safety_ms / 2),
            candidate: rng
                .random_bool(for_one)
                .then(|| rng.random_range(0..candidate_max)),
            times: rng.random_bool(0.5).then(|| rng.random_range(1..4)),
            kind: kind(rng, &mishaps),
        })
        .collect();
    if rng.random_bool(0.3) {
        // All writes are slow, but not too slow.
        let kind = Fault::SlowWebhook(SlowWebhook {
            takes_ms: pick(rng, &[renew_ms / 10, renew_ms / 4, renew_ms * 2 / 5]),
            times_out: false,
        });
        faults.push(CandidateFault::new(0, safety_ms, kind));
    }
    if rng.random_bool(0.3) {
        // No leader outlasts that.
        let mishap = FaultKind::Named(pick(rng, &["hang", "connection_refused", "server_error"]));
        let at_ms = rng.random_range(0..safety_ms);
        let for_ms = rng.random_range(renew_ms..=2 * lease_ms);
        let fault = CandidateFault::new(at_ms, for_ms, kind(rng, &[mishap]));
        faults.push(fault);
    }
    faults.sort_by_key(|fault| fault.at_ms);
    faults
}

fn kind(rng: &mut ChaCha8Rng, mishaps: &[FaultKind]) -> Fault {
    match pick(rng, mishaps) {
        FaultKind::SlowWrite => Fault::SlowWebhook(SlowWebhook {
            takes_ms: pick(rng, &SLOW_MS),
            times_out: rng.random_bool(0.2),
        }),
        FaultKind::LostAnswer => Fault::LostAnswer(LostAnswer {
            form: pick(rng, &[LostAnswerForm::Reset, LostAnswerForm::Timeout]),
            applied: rng.random_bool(0.7),
        }),
        FaultKind::Named(name) => Fault::named(name)
            .expect("the catalogue has it")
            .drawn(rng.random()),
    }
}
