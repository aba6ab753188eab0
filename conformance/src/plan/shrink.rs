//! Makes a failing plan smaller: takes parts away as long as it still fails.
//!
//! [`Shrinker`] proposes smaller plans one at a time and is told whether each still fails; [`any_plan`] is the same as a
//! proptest strategy.

use proptest::{
    strategy::{NewTree, Strategy, ValueTree},
    test_runner::TestRunner,
};

use super::Plan;
use crate::seed::Seed;

/// Any plan; a failing one is shrunk by taking parts away, not by trying other seeds.
pub fn any_plan() -> impl Strategy<Value = Plan> {
    AnyPlan
}

/// Proposes ever smaller plans.
///
/// Halves of a list are tried before quarters, down to single elements (delta debugging), and all lists again until a
/// whole pass takes nothing away.
#[derive(Clone, Debug)]
pub struct Shrinker {
    smallest: Plan,
    proposed: Plan,
    place: Place,
    /// Whether this pass has taken something away.
    has_progressed: bool,
}

/// What is to be taken away next.
#[derive(Clone, Copy, Debug)]
struct Place {
    part: Part,
    /// How many elements at once; 0 before the first proposal of a part.
    chunk: usize,
    offset: usize,
}

/// The parts of a plan that have elements to take away, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Faults,
    Informers,
    Workload,
    Handlers,
    Time,
}

#[derive(Clone, Copy, Debug)]
struct AnyPlan;

// === impl Shrinker ===

impl Shrinker {
    /// A shrinker of `plan`, which fails.
    pub fn new(plan: Plan) -> Self {
        Self {
            smallest: plan.clone(),
            proposed: plan,
            place: Place::at(Part::Faults),
            has_progressed: false,
        }
    }

    /// The smallest plan that is known to fail.
    pub fn smallest(&self) -> &Plan {
        &self.smallest
    }

    /// The plan to try next, smaller than [`smallest`](Self::smallest); `None` when there is nothing left to try.
    pub fn propose(&mut self) -> Option<&Plan> {
        loop {
            let count = self.place.part.len(&self.smallest);
            if self.place.chunk == 0 {
                self.place.chunk = count.div_ceil(2).max(1);
            }
            if self.place.offset < count {
                let end = count.min(self.place.offset + self.place.chunk);
                self.proposed = self.smallest.clone();
                self.place
                    .part
                    .take(&mut self.proposed, self.place.offset, end);
                if self.proposed != self.smallest {
                    return Some(&self.proposed);
                }
                self.place.offset = end;
            } else if self.place.chunk > 1 {
                self.place.chunk /= 2;
                self.place.offset = 0;
            } else if let Some(part) = self.place.part.next() {
                self.place = Place::at(part);
            } else if self.has_progressed {
                self.has_progressed = false;
                self.place = Place::at(Part::Faults);
            } else {
                return None;
            }
        }
    }

    /// Says whether the plan that was proposed last still fails.
    pub fn judge(&mut self, still_fails: bool) {
        if still_fails {
            self.smallest = self.proposed.clone();
            self.has_progressed = true;
        } else {
            self.proposed = self.smallest.clone();
            self.place.offset += self.place.chunk;
        }
    }
}

impl ValueTree for Shrinker {
    type Value = Plan;

    fn current(&self) -> Plan {
        self.proposed.clone()
    }

    fn simplify(&mut self) -> bool {
        // What is current was tried and fails, be it the plan as drawn or the last proposal.
        if self.proposed != self.smallest {
            self.judge(true);
        }
        self.propose().is_some()
    }

    fn complicate(&mut self) -> bool {
        self.judge(false);
        self.propose().is_some()
    }
}

// === impl Place ===

impl Place {
    fn at(part: Part) -> Self {
        Self {
            part,
            chunk: 0,
            offset: 0,
        }
    }
}

// === impl Part ===

impl Part {
    fn next(self) -> Option<Self> {
        match self {
            Self::Faults => Some(Self::Informers),
            Self::Informers => Some(Self::Workload),
            Self::Workload => Some(Self::Handlers),
            Self::Handlers => Some(Self::Time),
            Self::Time => None,
        }
    }

    fn len(self, plan: &Plan) -> usize {
        match self {
            Self::Faults => plan.faults.len(),
            Self::Informers => plan.informers.len(),
            Self::Workload => plan.workload.len(),
            Self::Handlers => plan
                .informers
                .iter()
                .map(|informer| informer.handlers.len())
                .sum(),
            Self::Time => 1,
        }
    }

    fn take(self, plan: &mut Plan, from: usize, to: usize) {
        match self {
            Self::Faults => drop(plan.faults.drain(from..to)),
            Self::Workload => drop(plan.workload.drain(from..to)),
            Self::Informers => take_informers(plan, from, to),
            Self::Handlers => {
                let mut index = 0;
                for informer in &mut plan.informers {
                    informer.handlers.retain(|_| {
                        index += 1;
                        !(from..to).contains(&(index - 1))
                    });
                }
            }
            Self::Time => plan.safety_ms = plan.last_ms() + 1_000,
        }
    }
}

/// Takes informers away, and the faults that are for nobody else; the others' places move up.
pub(super) fn take_informers(plan: &mut Plan, from: usize, to: usize) {
    plan.informers.drain(from..to);
    plan.faults.retain_mut(|fault| match &mut fault.informer {
        Some(place) if (from..to).contains(place) => false,
        Some(place) if *place >= to => {
            *place -= to - from;
            true
        }
        _ => true,
    });
}

// === impl Plan ===

impl Plan {
    /// When the last thing of it happens.
    fn last_ms(&self) -> u64 {
        let operations = self.workload.iter().map(|operation| operation.at_ms);
        let faults = self.faults.iter().map(|fault| fault.at_ms + fault.for_ms);
        let handlers = self.informers.iter().flat_map(|informer| {
            let own = informer
                .handlers
                .iter()
                .flat_map(|handler| [Some(handler.join_ms), handler.leave_ms]);
            own.flatten().chain([informer.start_ms])
        });
        let last = operations.chain(faults).chain(handlers).max().unwrap_or(0);
        last.min(self.safety_ms.saturating_sub(1_000))
    }
}

// === impl AnyPlan ===

impl Strategy for AnyPlan {
    type Tree = Shrinker;
    type Value = Plan;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        use rand::Rng;
        Ok(Shrinker::new(Plan::draw(Seed::new(
            runner.rng().next_u64(),
        ))))
    }
}
