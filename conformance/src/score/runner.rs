//! Runs all pairs in parallel threads: runs share nothing.

use std::{
    collections::BTreeMap,
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

/// A run: the numbers of the pair and of the scenario's plan.
type Run = (usize, usize);

/// The cells, and the judgements of those that are not filled yet.
struct Filling {
    judgements: Vec<BTreeMap<usize, (Plan, Judgement)>>,
    cells: Vec<Option<Cell>>,
}

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
    mut watch: impl FnMut(&Cell),
) -> Scoreboard {
    let pairs: Vec<(&Scenario, Contestant)> = scenarios
        .iter()
        .flat_map(|scenario| contestants.iter().map(move |who| (scenario, *who)))
        .collect();
    let runs: Vec<Run> = pairs
        .iter()
        .enumerate()
        .flat_map(|(pair, (scenario, _))| (0..scenario.plans.len()).map(move |plan| (pair, plan)))
        .collect();
    let work = |&(pair, place): &Run| {
        let (scenario, contestant) = pairs[pair];
        let plan = seeded(contestant, &scenario.plans[place], arena.seed);
        let judgement = judged(scenario, contestant, &plan, arena);
        ((pair, place), plan, judgement)
    };
    let mut filling = Filling::new(&pairs);
    task::map_in_threads(&runs, arena.thread_count, work, |(run, plan, judgement)| {
        if let Some(cell) = filling.take(&pairs, *run, plan, judgement) {
            watch(cell);
        }
    });
    let mut board = Scoreboard::new(scenarios, contestants);
    board.cells = filling.cells.into_iter().flatten().collect();
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

// === impl Filling ===

impl Filling {
    fn new(pairs: &[(&Scenario, Contestant)]) -> Self {
        Self {
            judgements: pairs.iter().map(|_| BTreeMap::new()).collect(),
            cells: pairs.iter().map(|_| None).collect(),
        }
    }

    /// Takes the judgement of a run, and returns the cell if that was its last one.
    fn take(
        &mut self,
        pairs: &[(&Scenario, Contestant)],
        (pair, place): Run,
        plan: &Plan,
        judgement: &Judgement,
    ) -> Option<&Cell> {
        let (scenario, contestant) = pairs[pair];
        let judgements = &mut self.judgements[pair];
        judgements.insert(place, (plan.clone(), judgement.clone()));
        if judgements.len() < scenario.plans.len() {
            return None;
        }
        let judgements = std::mem::take(judgements).into_values();
        Some(self.cells[pair].insert(Cell::of(scenario, contestant, judgements)))
    }
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
