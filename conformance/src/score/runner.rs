//! Runs all pairs, side by side in threads: runs share nothing.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use super::{
    Arena, Cell, Contestant, Scenario, Scoreboard, Verdict,
    judge::{Judgement, judge},
};
use crate::{call::whole, plan::Plan, seed::Seed, sim::Against};

/// Checkers that hold where nothing takes time. Over TCP connections are tasks that clients keep for a while, and what has
/// crossed the transport is still on its way to the client, or lost with its connection; a client waits from what it has
/// noticed, and longer where the machine is busy. That no client asks without a pause is looked at everywhere.
const TIMELESS: [&str; 7] = [
    "leaks",
    "freshness",
    "rewatches",
    "relists",
    "backoff",
    "resyncs",
    "liveness",
];

/// Runs each of `scenarios` against each of `contestants`, in the threads of `arena`. `watch` hears of each cell as it is filled.
///
/// # Panics
///
/// Within a tokio runtime, or if the system gives no thread.
pub fn run(
    scenarios: &[Scenario],
    contestants: &[Contestant],
    arena: &Arena,
    mut watch: impl FnMut(&Cell),
) -> Scoreboard {
    let pairs: Vec<(&Scenario, Contestant)> = scenarios
        .iter()
        .flat_map(|scenario| contestants.iter().map(move |who| (scenario, *who)))
        .collect();
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    let mut cells: Vec<Option<Cell>> = vec![None; pairs.len()];
    thread::scope(|scope| {
        for _ in 0..arena.thread_count.max(1) {
            let (sender, pairs, next) = (sender.clone(), &pairs, &next);
            let worker = thread::Builder::new().name("score".to_owned());
            let work = move || {
                while let Some((place, pair)) = take(pairs, next) {
                    let cell = fill(pair.0, pair.1, arena);
                    if sender.send((place, cell)).is_err() {
                        return;
                    }
                }
            };
            let spawned = worker.spawn_scoped(scope, work);
            spawned.expect("the system gives a thread");
        }
        drop(sender);
        for (place, cell) in results {
            watch(&cell);
            cells[place] = Some(cell);
        }
    });
    let mut board = Scoreboard::new(scenarios, contestants);
    board.cells = cells.into_iter().flatten().collect();
    board
}

/// All that was observed in the runs of one pair, plan after plan.
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

fn take<'a>(
    pairs: &'a [(&'a Scenario, Contestant)],
    next: &AtomicUsize,
) -> Option<(usize, &'a (&'a Scenario, Contestant))> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    pairs.get(place).map(|pair| (place, pair))
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

/// A panic that reaches the run is the contestant's: it happened while the run polled it.
fn judged(scenario: &Scenario, contestant: Contestant, plan: &Plan, arena: &Arena) -> Judgement {
    let run = catch_unwind(AssertUnwindSafe(|| scenario.run(plan, contestant, arena)));
    match run {
        Ok(Ok(mut outcome)) => {
            if arena.against == Against::Tcp {
                let violations = &mut outcome.violations;
                violations.retain(|violation| !TIMELESS.contains(&violation.checker));
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

/// What is said of a run of which there is no trace.
fn unseen(verdict: Verdict, text: String) -> Judgement {
    Judgement {
        verdict,
        at: Duration::ZERO,
        took: None,
        text,
    }
}
