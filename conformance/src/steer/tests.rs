use std::collections::BTreeSet;

use super::{Feature, Origin, ReachedFeatures, Search};
use crate::{
    participants::Participants,
    partition::Partition,
    plan::Profile,
    seed::Seed,
    sim::{self, Plan, RunOptions},
    trace::Trace,
};

fn run(plan: &Plan) -> Trace {
    sim::run(plan, &RunOptions::default()).trace
}

/// Invents what a plan reaches, without a run: the names of its faults, and some of its options.
fn invented(plan: &Plan) -> ReachedFeatures {
    let mut features = BTreeSet::new();
    for fault in &plan.faults {
        for other in &plan.faults {
            let names = [fault, other].map(|fault| fault.kind.name().to_owned());
            let [first, second] = names;
            features.insert(Feature::Together(first, second));
        }
    }
    let election = plan.participants.election.as_ref();
    let candidate_count = election.map_or(0, |election| election.candidates.len());
    let number = u32::try_from(candidate_count).unwrap();
    features.insert(Feature::Occasion("leaders", number));
    ReachedFeatures {
        features,
        cost: plan.workload.len() as u64,
    }
}

#[test]
fn partitions_draw_disjoint_seeds_that_are_all_together() {
    let mut seeds = Vec::new();
    for index in 0..3 {
        let partition = Partition::new(index, 3).unwrap();
        let search = Search::new(Seed::new(7), Profile::Brief).with_fresh_percent(100);
        let proposals = search.with_partition(partition).propose(4);
        seeds.extend(proposals.into_iter().map(|it| it.plan.seed.get()));
    }
    seeds.sort_unstable();
    assert!(seeds.into_iter().eq(7..19));
}

/// Lets a search go on for some rounds with invented results.
fn proposed(seed: u64, profile: Profile, rounds: usize) -> Vec<(Plan, Origin)> {
    let mut search = Search::new(Seed::new(seed), profile);
    let mut all = Vec::new();
    for _ in 0..rounds {
        let round = search.propose(16);
        for proposal in &round {
            search.learn(&proposal.plan, invented(&proposal.plan));
        }
        all.extend(
            round
                .into_iter()
                .map(|proposal| (proposal.plan, proposal.origin)),
        );
    }
    all
}

#[test]
fn a_seed_gives_one_sequence() {
    let first = proposed(1, Profile::Small, 6);
    assert_eq!(first, proposed(1, Profile::Small, 6));
    assert_ne!(first, proposed(2, Profile::Small, 6));
}

#[test]
fn the_first_round_is_drawn_and_later_ones_mostly_are_mutations() {
    let all = proposed(40, Profile::Small, 9);
    for (number, (plan, origin)) in (40..).zip(&all[..16]) {
        assert_eq!(*origin, Origin::Drawn);
        assert_eq!(*plan, Plan::draw_sized(Seed::new(number), Profile::Small));
    }
    let mutated = all[16..].iter();
    let mutated = mutated.filter(|(_, origin)| *origin == Origin::Mutated);
    assert!((80..=112).contains(&mutated.count()));
}

#[test]
fn mutations_are_valid_and_differ() {
    for profile in Profile::ALL {
        let all = proposed(3, profile, 12);
        let mut texts = BTreeSet::new();
        for (plan, _) in &all {
            assert!(plan.is_valid(profile), "{}", plan.to_text());
            assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), *plan);
            texts.insert(plan.to_text());
        }
        assert!(texts.len() * 10 > all.len() * 9, "{}", texts.len());
    }
}

#[test]
fn mutations_change_every_part() {
    let mut changed = BTreeSet::new();
    let drawn = Plan::draw_sized(Seed::new(3), Profile::Small);
    let mut search = Search::new(Seed::new(3), Profile::Small).with_fresh_percent(0);
    search.learn(&drawn, invented(&drawn));
    for proposal in search.propose(400) {
        let (before, after) = (json(&drawn), json(&proposal.plan));
        let names = before.keys().chain(after.keys());
        let is_changed = |name: &&String| before.get(*name) != after.get(*name);
        changed.extend(names.filter(is_changed).cloned());
    }
    let mut parts = vec![
        "contents",
        "faults",
        "incidents",
        "informers",
        "interleaving",
        "list_gate",
        "revision",
        "safety_ms",
        "seed",
        "workload",
    ];
    parts.extend(Participants::NAMES);
    parts.sort_unstable();
    assert!(changed.iter().map(String::as_str).eq(parts), "{changed:?}");
}

fn json(plan: &Plan) -> serde_json::Map<String, serde_json::Value> {
    serde_json::from_str(&plan.to_text()).unwrap()
}

#[test]
fn without_steering_the_plans_are_those_of_the_seeds() {
    let mut search = Search::new(Seed::new(7), Profile::Small).with_fresh_percent(100);
    for number in 7..40 {
        let [proposal] = search.propose(1).try_into().unwrap();
        let want = Plan::draw_sized(Seed::new(number), Profile::Small);
        assert_eq!(proposal.plan, want);
        search.learn(&proposal.plan, invented(&proposal.plan));
    }
}

#[test]
fn plans_of_an_earlier_search_come_first() {
    let earlier: Vec<Plan> = (90..92).map(|seed| Plan::draw(Seed::new(seed))).collect();
    let mut search = Search::new(Seed::new(1), Profile::Small).with_earlier(earlier.clone());
    let first: Vec<_> = search.propose(3);
    assert_eq!(first[0].plan, earlier[0]);
    assert_eq!(first[1].plan, earlier[1]);
    let origins: Vec<Origin> = first.iter().map(|proposal| proposal.origin).collect();
    assert_eq!(origins, [Origin::Kept, Origin::Kept, Origin::Drawn]);
}

#[test]
fn a_run_reaches_features_of_every_kind() {
    let mut reached = ReachedFeatures::default();
    let drawn = |seed| Plan::draw_sized(Seed::new(seed), Profile::Small);
    let with_an_election = (0..100)
        .map(drawn)
        .find(|plan| plan.participants.election.is_some());
    for plan in (0..5).map(drawn).chain(with_an_election) {
        let of_run = ReachedFeatures::of(&run(&plan));
        assert_eq!(of_run, ReachedFeatures::of(&run(&plan)));
        assert!(of_run.cost > 100);
        reached.features.extend(of_run.features);
    }
    let has = |wanted: fn(&Feature) -> bool| reached.features.iter().any(wanted);
    assert!(has(|it| matches!(it, Feature::Transition(_, 1..))));
    assert!(has(|it| matches!(it, Feature::Occasion(_, 1..))));
    assert!(has(|it| matches!(it, Feature::Pair(..))));
    assert!(has(|it| matches!(it, Feature::Under(..))));
    assert!(has(|it| matches!(it, Feature::Together(..))));
    assert!(has(|it| matches!(it, Feature::Steps(..))));
}
