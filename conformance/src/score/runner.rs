//! Runs all pairs in parallel threads: runs share nothing.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use super::{
    Arena, Cell, Contestant, PlanRun, Scenario, Scoreboard, Verdict,
    judge::{Judgement, concerning, judge},
};
use crate::{
    call::whole,
    checkers::Violation,
    participants::assumes_instant_delivery,
    sim::{Against, Outcome, Plan},
    task,
    trace::SharedSink,
};

/// A run: the numbers of the pair and of the scenario's plan.
type Run = (usize, usize);

/// The cells, and the judgements of those that are not filled yet.
struct PendingCells {
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
        let run = run_plan(scenario, contestant, place, arena, None);
        ((pair, place), run.plan, run.judgement)
    };
    let mut filling = PendingCells::new(&pairs);
    task::map_in_threads(&runs, arena.thread_count, work, |(run, plan, judgement)| {
        if let Some(cell) = filling.take(&pairs, *run, plan, judgement) {
            watch(cell);
        }
    });
    let mut board = Scoreboard::new(scenarios, contestants);
    board.cells = filling.cells.into_iter().flatten().collect();
    board
}

/// Runs the plan at `place` of a scenario, and gives its observations to a sink, if there is one. A panic that reaches
/// the run is the contestant's: it happened while the run polled it.
///
/// # Panics
///
/// Within a tokio runtime, or if the scenario has no such plan.
pub fn run_plan(
    scenario: &Scenario,
    contestant: Contestant,
    place: usize,
    arena: &Arena,
    sink: Option<&SharedSink>,
) -> PlanRun {
    let mut plan = contestant.plan(&scenario.plans[place]);
    plan.seed = arena.seed;
    let run = || scenario.run(&plan, contestant, arena, sink);
    let (judgement, violations) = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(outcome)) => judged(scenario, contestant, arena, outcome),
        Ok(Err(error)) => (unseen(Verdict::NotRun, whole(&error)), Vec::new()),
        Err(_) => {
            let text = "the run panicked".to_owned();
            (unseen(Verdict::Panicked, text), Vec::new())
        }
    };
    PlanRun {
        plan,
        judgement,
        violations,
    }
}

// === impl PendingCells ===

impl PendingCells {
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
        // Plans end in any order: they are joined in that of the scenario, by their places.
        if judgements.len() < scenario.plans.len() {
            return None;
        }
        let judgements = std::mem::take(judgements).into_values();
        Some(self.cells[pair].insert(Cell::of(scenario, contestant, judgements)))
    }
}

/// Judges what was observed.
fn judged(
    scenario: &Scenario,
    contestant: Contestant,
    arena: &Arena,
    outcome: Outcome,
) -> (Judgement, Vec<Violation>) {
    let mut violations = outcome.violations;
    if arena.against == Against::Tcp {
        violations.retain(|violation| !assumes_instant_delivery(violation.checker));
    }
    let (trace, asks) = (&outcome.trace, &scenario.asks);
    let judgement = judge(trace, &violations, asks, contestant);
    (judgement, concerning(trace, violations, asks, contestant))
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
