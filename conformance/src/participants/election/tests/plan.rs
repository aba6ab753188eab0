//! Drawing and shrinking of elections.

use fakeserver::faults::Fault;

use super::super::{
    CandidateFault, CandidatePlan, CandidateStop, ElectionPlan, ForeignWrite, ForeignWriteKind,
    StopKind,
};
use crate::{
    plan::Profile,
    seed::Seed,
    sim::{Plan, shrink::Shrinker},
};

fn drawn(profile: Profile) -> Vec<Plan> {
    (0..300)
        .map(|seed| Plan::draw_sized(Seed::new(seed), profile))
        .collect()
}

#[test]
fn a_third_of_the_plans_have_an_election_and_elections_differ() {
    let plans = drawn(Profile::Medium);
    let elections: Vec<&ElectionPlan> = plans
        .iter()
        .filter_map(|plan| plan.participants.election.as_ref())
        .collect();
    assert!((75..=125).contains(&elections.len()), "{}", elections.len());
    let candidates = || elections.iter().flat_map(|election| &election.candidates);
    assert!(
        elections
            .iter()
            .all(|election| (2..=4).contains(&election.candidates.len()))
    );
    for kind in [StopKind::Release, StopKind::Drop, StopKind::Crash] {
        let stops =
            |candidate: &CandidatePlan| candidate.stop.is_some_and(|stop| stop.kind == kind);
        assert!(candidates().any(stops), "{kind:?}");
    }
    assert!(candidates().any(|candidate| candidate.clock_ahead_s > 3_600));
    assert!(candidates().any(|candidate| candidate.clock_ahead_s < -3_600));
    let of_fault = |name: &str| {
        let mut faults = elections.iter().flat_map(|election| &election.faults);
        faults.any(|fault| fault.kind.name() == name)
    };
    assert!(of_fault("slow_webhook") && of_fault("lost_answer") && of_fault("hang"));
    assert!(
        elections
            .iter()
            .any(|election| election.meddlings.len() > 1)
    );
    // No lease is as short as these plans.
    assert!(
        drawn(Profile::Brief)
            .iter()
            .all(|plan| plan.participants.election.is_none())
    );
}

#[test]
fn an_election_shrinks_to_what_matters() {
    let mut plan = Plan::empty(Seed::new(1));
    let mut election = ElectionPlan::of(4);
    let stop = |at_ms| CandidateStop {
        at_ms,
        kind: StopKind::Crash,
        again_ms: Some(at_ms + 500),
    };
    for (place, candidate) in election.candidates.iter_mut().enumerate() {
        candidate.clock_ahead_s = 60;
        candidate.stop = Some(stop(3_000 + place as u64));
    }
    let fault = |candidate| CandidateFault {
        candidate,
        ..CandidateFault::new(1_000, 2_000, Fault::Hang)
    };
    election.faults = vec![fault(Some(0)), fault(Some(2)), fault(None)];
    election.meddlings = vec![ForeignWrite {
        at_ms: 4_000,
        kind: ForeignWriteKind::Clear,
    }];
    plan.participants.election = Some(election);
    // The failure needs a fault of one candidate that crashes.
    let fails = |plan: &Plan| {
        plan.participants.election.iter().any(|election| {
            let places = election.faults.iter().filter_map(|fault| fault.candidate);
            let mut hit = places.filter_map(|place| election.candidates.get(place));
            hit.any(|candidate| candidate.stop.is_some())
        })
    };
    let mut shrinker = Shrinker::new(plan.clone());
    while let Some(proposed) = shrinker.propose() {
        let still_fails = fails(proposed);
        shrinker.judge(still_fails);
    }
    let smallest = shrinker.smallest();
    assert_eq!(
        serde_json::to_string(&smallest.participants.election).unwrap(),
        r#"{"lease_ms":15000,"renew_ms":10000,"retry_ms":2000,"candidates":[{"start_ms":0,"stop":{"at_ms":0,"kind":"crash"}}],"faults":[{"at_ms":0,"for_ms":0,"candidate":0,"times":1,"kind":"hang"}]}"#
    );
    // Whatever does not need it goes without it.
    let mut shrinker = Shrinker::new(plan);
    while shrinker.propose().is_some() {
        shrinker.judge(true);
    }
    assert_eq!(shrinker.smallest().participants.election, None);
}
