//! The lines of a timeline.

use fakeserver::faults::Fault;

use super::{EventWriter, LiveFile, timeline};
use crate::{
    belief::State,
    checkers,
    participants::{self, InformerPlan},
    plan::{Action, Operation, PlannedFault, Profile, Resource, Tier},
    seed::Seed,
    sim::{self, Plan, RunOptions},
    trace::{Sink as _, Trace},
    tracefile::{Event, EventKind, Header, TraceFile},
};

fn plan(faults: &[PlannedFault]) -> Plan {
    let mut plan = Plan::empty(Seed::new(1));
    let mut informer = InformerPlan::of(Resource::ConfigMaps);
    informer.streaming_lists = false;
    plan.informers = vec![informer];
    let maps = |at_ms, action| Operation::new(at_ms, Resource::ConfigMaps, 0, action);
    plan.workload = vec![
        maps(0, Action::Create(Tier::Web)),
        maps(2_000, Action::Update),
        maps(4_000, Action::Delete),
    ];
    plan.faults = faults.to_vec();
    plan
}

fn timeline_of(plan: &Plan) -> String {
    let outcome = sim::run(plan, &RunOptions::default());
    timeline(&outcome.trace, &outcome.violations)
}

#[test]
fn a_good_run_is_told_without_a_mark() {
    let text = timeline_of(&plan(&[]));
    insta::assert_snapshot!(text);
}

#[test]
fn the_first_broken_promise_is_marked_where_it_broke() {
    // The deletion is never sent.
    let dropped = PlannedFault::new(3_000, 7_000, Fault::DropEvent).times(1);
    let text = timeline_of(&plan(&[dropped]));
    insta::assert_snapshot!(text);
    assert_eq!(text.matches("first broken:").count(), 1);
}

#[test]
fn findings_of_the_end_are_shown_at_the_end() {
    let outcome = sim::run(&plan(&[]), &RunOptions::default());
    let violation = checkers::Violation {
        checker: "convergence",
        finding: checkers::Finding::whole("cache 0 lacks one/configmap-0"),
    };
    let text = timeline(&outcome.trace, &[violation]);
    let mut lines = text.lines().skip_while(|line| !line.ends_with("converged"));
    let mark = lines.nth(1).unwrap();
    assert_eq!(
        mark.trim_start(),
        ">>>  ^ first broken: convergence: cache 0 lacks one/configmap-0"
    );
}

#[test]
fn a_promise_of_an_election_is_led_to_by_the_lease_and_the_candidate() {
    let plan = include_str!("../../regressions/granted-anew-to-its-leader.json");
    let outcome = sim::run(&Plan::from_text(plan).unwrap(), &RunOptions::default());
    let led = |finding: &str| {
        let violation = checkers::Violation {
            checker: "leaders",
            finding: checkers::Finding::at(outcome.trace.records().len() - 1, finding),
        };
        let mut writer = EventWriter::new(Vec::new(), &Header::new("an election"));
        for record in outcome.trace.records() {
            writer.observed(record.at, &record.observation);
        }
        let written = writer.finish(&[violation]).unwrap();
        let file = TraceFile::read(str::from_utf8(&written).unwrap()).unwrap();
        let causes = file.broken[0].causes.iter();
        let actors = causes.map(|cause| file.actor_name(file.events[*cause].actor).to_owned());
        actors.collect::<Vec<_>>()
    };
    let of_one = led("candidate 0 still leads");
    assert!(
        of_one.iter().any(|actor| actor == "candidate-0"),
        "{of_one:?}"
    );
    assert!(of_one.iter().any(|actor| actor == "lease"), "{of_one:?}");
    assert!(
        !of_one.iter().any(|actor| actor == "candidate-1"),
        "{of_one:?}"
    );
    let of_nothing = led("something is wrong");
    assert_eq!(of_nothing, [""; 0]);
}

#[test]
fn every_checker_says_what_it_expects() {
    for checker in participants::checkers() {
        assert!(
            checker.promise().is_some_and(|words| words.len() > 10),
            "{} has no row",
            checker.name
        );
    }
}

/// Runs the plan of a seed with a trace file, and returns its text, and the trace.
fn traced(seed: u64) -> (TraceFile, Trace) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let file = LiveFile::create(&path, &Header::new("a run")).unwrap();
    let sink = file.sink();
    let plan = Plan::draw_sized(Seed::new(seed), Profile::Small);
    let outcome = sim::run(&plan, &RunOptions::default().with_sink(Some(&sink)));
    file.finish(&outcome.violations).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    (TraceFile::read(&text).unwrap(), outcome.trace)
}

#[test]
fn a_trace_file_changes_nothing_of_a_run() {
    for seed in 0..4 {
        let plan = Plan::draw_sized(Seed::new(seed), Profile::Small);
        let outcome = sim::run(&plan, &RunOptions::default());
        assert_eq!(traced(seed).1, outcome.trace, "seed {seed}");
    }
}

#[test]
fn a_seed_determines_its_trace_file() {
    assert_eq!(traced(5).0, traced(5).0);
}

#[test]
fn beliefs_are_true_when_a_run_has_converged() {
    for seed in 0..4 {
        let (file, _) = traced(seed);
        let is_converged =
            |event: &Event| matches!(&event.kind, EventKind::Phase { say } if say == "converged");
        let number = file.events.iter().position(is_converged).unwrap();
        let state = State::after(&file, number).unwrap();
        let mut clients = state.clients.iter();
        assert!(clients.any(|client| !client.objects.is_empty()));
        for client in &state.clients {
            for belief in &client.objects {
                assert_eq!(
                    belief.believed, belief.truth,
                    "seed {seed}: {} of {}",
                    belief.name, client.actor
                );
            }
        }
    }
}
