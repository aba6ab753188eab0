//! Runs all pairs in parallel threads: runs share nothing.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use super::{
    Arena, Cell, Contestant, Scenario, Scoreboard, Verdict,
    judge::{Judgement, judge},
};
use crate::{
    call::whole, checkers::OF_INSTANT_DELIVERY, plan::Plan, seed::Seed, sim::Against, task,
};

/// Runs each of `scenarios` against each of `contestants` under the conditions of `arena`. `watch` sees each cell as it
/// is filled.
///
/// # Panics
///
/// Within a tokio runtime, or if the system gives no thread.
pub fn run(
    scenarios: &[Scenario],
    contestants: &[Contestant],
    arena: &Arena,
    watch: impl FnMut(&Cell),
) -> Scoreboard {
    let pairs: Vec<(&Scenario, Contestant)> = scenarios
        .iter()
        .flat_map(|scenario| contestants.iter().map(move |who| (scenario, *who)))
        .collect();
    let work =
        |(scenario, contestant): &(&Scenario, Contestant)| fill(scenario, *contestant, arena);
    let cells = task::map_in_threads(&pairs, arena.thread_count, work, watch);
    let mut board = Scoreboard::new(scenarios, contestants);
    board.cells = cells;
    board
}

/// Returns all observations in the runs of one pair, plan after plan.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn traces(scenario: &Scenario, contestant: Contestant, arena: &Arena) -> String {
    let runs = scenario.plans.iter().enumerate().map(|(place, plan)| {
        let plan = seeded(contestant, plan, arena.seed);
        let number = place + 1;
        match scenario.run(&plan, contestant, arena) {
            Ok(outcome) => format!("plan {number}\n{}", outcome.trace),
            Err(error) => format!("plan {number}\nnot run: {}\n", whole(&error)),
        }
    });
    runs.collect()
}

fn fill(scenario: &Scenario, contestant: Contestant, arena: &Arena) -> Cell {
    let judgements = scenario.plans.iter().map(|plan| {
        let plan = seeded(contestant, plan, arena.seed);
        let judgement = judged(scenario, contestant, &plan, arena);
        (plan, judgement)
    });
    Cell::of(scenario, contestant, judgements)
}

fn seeded(contestant: Contestant, plan: &Plan, seed: Seed) -> Plan {
    let mut plan = contestant.plan(plan);
    plan.seed = seed;
    plan
}

/// Judges a run. A panic that reaches the run is the contestant's: it happened while the run polled it.
fn judged(scenario: &Scenario, contestant: Contestant, plan: &Plan, arena: &Arena) -> Judgement {
    let run = catch_unwind(AssertUnwindSafe(|| scenario.run(plan, contestant, arena)));
    match run {
        Ok(Ok(mut outcome)) => {
            if arena.against == Against::Tcp {
                let violations = &mut outcome.violations;
                violations.retain(|violation| !OF_INSTANT_DELIVERY.contains(&violation.checker));
            }
            judge(
                &outcome.trace,
                &outcome.violations,
                &scenario.asks,
                contestant,
            )
        }
        Ok(Err(error)) => unseen(Verdict::NotRun, whole(&error)),
        Err(_) => unseen(Verdict::Panicked, "the run panicked".to_owned()),
    }
}

/// Returns the judgement of a run without a trace.
fn unseen(verdict: Verdict, text: String) -> Judgement {
    Judgement {
        verdict,
        at: Duration::ZERO,
        took: None,
        text,
    }
}
