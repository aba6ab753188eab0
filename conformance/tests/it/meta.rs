//! The same plan twice gives the same trace, to the byte.

use conformance::{
    seed::Seed,
    sim::{self, Plan, RunOptions},
};

#[test]
fn the_same_plan_twice_gives_the_same_bytes_of_trace() {
    for seed in 0..12 {
        let plan = Plan::draw(Seed::new(seed));
        let (first, second) = (
            sim::run(&plan, &RunOptions::default()).trace.to_string(),
            sim::run(&plan, &RunOptions::default()).trace.to_string(),
        );
        let differs = first
            .lines()
            .zip(second.lines())
            .find(|(first, second)| first != second);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(first, second, "seed {seed}");
        assert!(
            first.lines().count() > 50,
            "seed {seed} has a trace of nothing"
        );
    }
}

#[test]
fn it_does_not_matter_what_runs_beside_it() {
    let plan = Plan::draw(Seed::new(3));
    let alone = sim::run(&plan, &RunOptions::default()).trace.to_string();
    let beside: Vec<String> = std::thread::scope(|scope| {
        let runs = [3, 4, 3, 5].map(|seed| {
            scope.spawn(move || {
                sim::run(&Plan::draw(Seed::new(seed)), &RunOptions::default())
                    .trace
                    .to_string()
            })
        });
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(alone, beside[0]);
    assert_eq!(alone, beside[2]);
    assert_ne!(alone, beside[1]);
}

#[test]
fn a_plan_that_was_written_and_read_runs_the_same() {
    let plan = Plan::draw(Seed::new(6));
    let read = Plan::from_text(&plan.to_text()).unwrap();
    assert_eq!(
        sim::run(&plan, &RunOptions::default()),
        sim::run(&read, &RunOptions::default())
    );
}
