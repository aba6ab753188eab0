use std::time::Duration;

use proptest::prelude::*;
use support::partition::{Partition, Stamp};

use super::*;
use crate::{
    batch::{Failure, Mode, Report},
    bugs::Bug,
    checkers::{Finding, Violation},
    hunt::{Catch, Hunt},
    plan::Profile,
    score::{CONTESTANTS, Scoreboard, Verdict, scenarios},
    seed::Seed,
    sim::Plan,
    steer::CORPUS_SIZE_MAX,
};

fn stamp(command: &str, partition: Partition) -> Stamp {
    Stamp::new(command, "0.1.0", partition).with("--seed", &7)
}

fn partitions(count: u32) -> Vec<Partition> {
    let all = (0..count).map(|index| Partition::new(index, count).unwrap());
    all.collect()
}

/// Invents the report of a partition of seeds, each of which fails or does not.
fn sim(partition: Partition, fails: &[bool]) -> CampaignReport {
    let mut report = Report::new(Profile::Small, Mode::Paused);
    for (number, fails) in partition.of(fails.iter().enumerate()) {
        let number = number as u64;
        let seed = Seed::new(number);
        report.summary.run_count += 1;
        *report
            .summary
            .faults
            .entry(format!("fault {}", number % 3))
            .or_default() += number;
        *report
            .summary
            .occasions
            .entry("waits".to_owned())
            .or_default() += number % 2;
        if number >= report.summary.slowest_convergence_ms {
            report.summary.slowest_convergence_ms = number;
            report.summary.slowest_seed = Some(seed);
        }
        if *fails {
            report.failures.push(Failure {
                seed,
                file: None,
                violations: vec![Violation {
                    checker: "waits",
                    finding: Finding::whole("it ended early"),
                }],
                tries: None,
            });
        }
    }
    let stamp = stamp("sim", partition);
    CampaignReport::Sim(Box::new(SimReport::of(
        stamp,
        &report,
        None,
        Duration::ZERO,
    )))
}

/// Merges reports by way of their files.
fn merged(reports: impl IntoIterator<Item = CampaignReport>) -> Result<Merged, Vec<String>> {
    let read = reports.into_iter().map(|report| {
        let file = format!("{}.json", report.stamp().partition.index());
        (file, CampaignReport::parse(&report.to_json()).unwrap())
    });
    let merged = merge(read.collect());
    merged.map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

proptest! {
    #[test]
    fn merged_seeds_give_the_report_of_one_process(
        (fails, order) in (prop::collection::vec(prop::bool::weighted(0.1), 0..60), 1_u32..9)
            .prop_flat_map(|(fails, count)| (Just(fails), Just(partitions(count)).prop_shuffle())),
    ) {
        let whole = sim(Partition::WHOLE, &fails);
        let merged = merged(order.iter().map(|partition| sim(*partition, &fails))).unwrap();
        prop_assert_eq!(merged.report.to_json(), whole.to_json());
        prop_assert_eq!(merged.report.is_good(), whole.is_good());
        prop_assert_eq!(merged.shortfalls(), Vec::<String>::new());
        let failed = merged.failed().count();
        prop_assert_eq!(failed == 0, !fails.contains(&true));
    }

    #[test]
    fn every_missing_partition_is_named(there in prop::collection::btree_set(0_u32..12, 1..12)) {
        let all = partitions(12);
        let reports = there.iter().map(|index| sim(all[*index as usize], &[false; 24]));
        let merged = merged(reports).unwrap();
        let missing: Vec<u32> = merged.missing.iter().map(|it| it.index()).collect();
        let want: Vec<u32> = (0..12).filter(|index| !there.contains(index)).collect();
        prop_assert_eq!(&missing, &want);
        prop_assert_eq!(merged.shortfalls().is_empty(), want.is_empty());
        prop_assert_eq!(merged.report.stamp().ended.is_some(), !want.is_empty());
    }

    #[test]
    fn a_merged_corpus_shows_every_feature_at_its_lowest_cost(
        plans in prop::collection::vec((0_u64..9, prop::collection::btree_set("[a-f]", 1..4)), 1..20),
        count in 1_usize..5,
    ) {
        let kept = plans.iter().zip(0..).map(|((cost, shows), seed)| KeptPlan {
            plan: Plan::empty(Seed::new(seed)),
            cost: *cost,
            shows: shows.iter().map(|name| format!("pairs: {name}")).collect(),
        });
        let mut corpora = vec![KeptCorpus::default(); count];
        for (place, plan) in kept.enumerate() {
            let corpus = &mut corpora[place % count];
            for feature in &plan.shows {
                *corpus.features.entry(feature.clone()).or_default() += 1;
            }
            corpus.plans.push(plan);
        }
        let merged = KeptCorpus::merged(corpora);
        for (feature, runs) in &merged.features {
            let examples: Vec<_> = merged.plans.iter().filter(|plan| plan.shows.contains(feature)).collect();
            prop_assert_eq!(examples.len(), 1, "{}", feature);
            let name = feature.trim_start_matches("pairs: ");
            let showing: Vec<_> = plans.iter().filter(|(_, shows)| shows.contains(name)).collect();
            let lowest = showing.iter().map(|(cost, _)| *cost).min().unwrap();
            prop_assert_eq!(examples[0].cost, lowest);
            prop_assert_eq!(*runs, showing.len() as u64);
        }
        prop_assert!(merged.plans.iter().all(|plan| !plan.shows.is_empty()));
    }
}

#[test]
fn missing_partitions_are_named_as_ranges() {
    let all = partitions(9);
    let there = [2, 7].map(|index| sim(all[index], &[false; 9]));
    assert_eq!(
        merged(there).unwrap().shortfalls(),
        [
            "missing: 0 to 1, 3 to 6, 8 of 9 partitions; run each with --partition K/9, and merge again"
        ]
    );
}

#[test]
fn a_partition_that_was_interrupted_is_named() {
    let [first, mut second] = [0, 1].map(|index| sim(partitions(2)[index], &[false; 4]));
    if let CampaignReport::Sim(report) = &mut second {
        report.campaign.ended = Some("ended by a signal after 3 s".to_owned());
    }
    let merged = merged([first, second]).unwrap();
    let want = "partition 1/2 (1.json): ended by a signal after 3 s";
    assert_eq!(merged.shortfalls(), [want]);
    assert_eq!(merged.report.stamp().ended.as_deref(), Some(want));
}

#[test]
fn reports_of_other_campaigns_are_named_with_what_differs() {
    let [first, second] = [0, 1].map(|index| partitions(2)[index]);
    let own = sim(first, &[]);
    let error = |change: &dyn Fn(&mut Stamp)| {
        let mut other = sim(second, &[]);
        if let CampaignReport::Sim(report) = &mut other {
            change(&mut report.campaign);
        }
        let error = merged([own.clone(), other]).unwrap_err();
        error.join("\n")
    };
    assert_eq!(
        error(&|stamp| stamp.partition = Partition::new(1, 3).unwrap()),
        "1.json is partition 1/3, 0.json is 0/2: both are to be of one N"
    );
    assert_eq!(
        error(&|stamp| stamp.partition = first),
        "0.json is partition 0/2 once more: 0.json is it, too"
    );
    assert_eq!(
        error(&|stamp| "0.2.0".clone_into(&mut stamp.version)),
        "1.json was written by version 0.2.0, 0.json by 0.1.0: run both with one version"
    );
    assert_eq!(
        error(&|stamp| stamp.options = [("--seeds".to_owned(), "9".to_owned())].into()),
        "--seed is not given in 1.json, and 7 in 0.json\n--seeds is 9 in 1.json, and not given in 0.json"
    );
    let hunted = BugsReport::of(stamp("bugs", second), &[]);
    assert_eq!(
        merged([own.clone(), CampaignReport::Bugs(hunted)]).unwrap_err(),
        ["1.json is a report of `bugs`, 0.json of `sim`"]
    );
    assert_eq!(merged([]).unwrap_err(), ["there is no report to merge"]);
}

#[test]
fn merged_bugs_are_in_the_order_of_their_list() {
    let hunts: Vec<Hunt> = Bug::all()
        .zip(1..)
        .map(|(bug, number)| Hunt {
            bug,
            seed_count: number,
            catch: (number != 5).then(|| Catch {
                seed: Seed::new(number),
                checkers: vec!["waits", "convergence"],
                violation: Violation {
                    checker: "convergence",
                    finding: Finding::whole("it differs"),
                },
            }),
        })
        .collect();
    let report = |partition: Partition| {
        let own: Vec<Hunt> = partition.of(hunts.clone()).collect();
        CampaignReport::Bugs(BugsReport::of(stamp("bugs", partition), &own))
    };
    let merged = merged(partitions(4).into_iter().rev().map(report)).unwrap();
    assert_eq!(merged.report.to_json(), report(Partition::WHOLE).to_json());
    let failed: Vec<&str> = merged.failed().map(|part| part.file.as_str()).collect();
    assert_eq!(failed, ["0.json"]);
    let CampaignReport::Bugs(report) = &merged.report else {
        panic!("{:?}", merged.report);
    };
    assert_eq!(report.bugs[0].by(), "convergence and another");
    assert_eq!(report.bugs[4].by(), "none");
}

/// Invents the report of a board of these scenarios.
fn board(partition: Partition) -> ScoreReport {
    let all = scenarios();
    let own: Vec<_> = partition.of(all.into_iter().take(7)).collect();
    let board = Scoreboard::new(&own, &CONTESTANTS);
    let mut report = ScoreReport::of(stamp("score", partition), &board);
    for scenario in &own {
        for contestant in CONTESTANTS {
            report.cells.push(ScoreCell {
                scenario: scenario.name.to_owned(),
                contestant: contestant.name.to_owned(),
                verdict: Verdict::HotLoop { per_second: 12.5 },
                is_as_it_has_to_be: true,
                seed: Seed::new(1),
                plan: 1,
                at_ms: 1_500,
                took_ms: None,
                text: format!("{} of {}", contestant.name, scenario.name),
            });
        }
    }
    report
}

#[test]
fn merged_scenarios_give_the_board_of_one_process() {
    let reports = partitions(3)
        .into_iter()
        .map(|it| CampaignReport::Score(board(it)));
    let merged = merged(reports).unwrap();
    let whole = board(Partition::WHOLE);
    assert_eq!(
        merged.report.to_json(),
        CampaignReport::Score(whole.clone()).to_json()
    );
    let CampaignReport::Score(report) = &merged.report else {
        panic!("{:?}", merged.report);
    };
    let text = report.board().unwrap().to_text();
    assert_eq!(text, whole.board().unwrap().to_text());
    assert!(text.contains("hot 12/s"), "{text}");
}

#[test]
fn a_scenario_of_another_version_is_an_error_that_names_it() {
    let mut report = board(Partition::WHOLE);
    "later".clone_into(&mut report.cells[0].scenario);
    let error = merged([CampaignReport::Score(report)]).unwrap_err();
    assert_eq!(error, ["0.json: no scenario is called later"]);
}

#[test]
fn a_merged_corpus_is_no_larger_than_that_of_one_search() {
    let corpus = |first: u64| {
        let mut corpus = KeptCorpus::default();
        for number in first..first + 400 {
            let feature = format!("pairs: {number}");
            // The later ones are rarer.
            corpus.features.insert(feature.clone(), 1_000 - number);
            corpus.plans.push(KeptPlan {
                plan: Plan::empty(Seed::new(number)),
                cost: 1,
                shows: [feature].into(),
            });
        }
        corpus
    };
    let merged = KeptCorpus::merged(vec![corpus(0), corpus(400)]);
    let seeds: Vec<u64> = merged
        .plans
        .iter()
        .map(|kept| kept.plan.seed.get())
        .collect();
    let want: Vec<u64> = (800 - CORPUS_SIZE_MAX as u64..800).collect();
    assert_eq!(seeds, want);
    assert_eq!(merged.features.len(), 800);
}

#[test]
fn what_is_no_report_is_refused_with_what_is_wanted() {
    let error = |text: &str| CampaignReport::parse(text).unwrap_err().to_string();
    assert!(error("notes").starts_with("it is no report of conformance: expected"));
    assert!(error("{\"good\": true}").contains("report.json of `survive`"));
    let foreign = "{\"campaign\": {\"command\": \"wire\", \"version\": \"0\", \"partition\": \"0/1\", \"options\": {}}}";
    assert!(error(foreign).starts_with("it is a report of `wire`"));
    let wrong = sim(Partition::WHOLE, &[]).to_json().replace("0/1", "5/3");
    assert!(
        error(&wrong).contains("K is one of 0 to 2"),
        "{}",
        error(&wrong)
    );
}
