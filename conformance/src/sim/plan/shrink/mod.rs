//! Shrinks a failing plan: removes parts as long as it still fails.
//!
//! Faults, informers, objects, operations and handlers go first; then options, names and times of the rest get simpler.
//! [`Shrinker`] proposes smaller plans one at a time, and its caller reports whether each still fails; [`any_plan`] is
//! the same as a proptest strategy.

mod parts;
mod moments;

use proptest::{
    strategy::{NewTree, Strategy, ValueTree},
    test_runner::TestRunner,
};

use self::parts::PARTS;
#[cfg(test)]
pub(super) use self::parts::take_informers;
use super::Plan;
use crate::seed::Seed;

/// Returns a strategy of all plans, which shrinks by removing parts, not by trying other seeds.
pub fn any_plan() -> impl Strategy<Value = Plan> {
    AnyPlan
}

/// Proposes ever smaller plans.
///
/// Halves of a list are tried before quarters, down to single elements (delta debugging), and all lists again until a
/// whole pass removes nothing.
#[derive(Clone, Debug)]
pub struct Shrinker {
    smallest: Plan,
    proposed: Plan,
    place: Position,
    /// True if this pass has removed something.
    has_progressed: bool,
}

/// The next part to remove.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    part: usize,
    /// The number of elements to remove at once; 0 before the first proposal of a part.
    chunk: usize,
    offset: usize,
}

#[derive(Clone, Copy, Debug)]
struct AnyPlan;

// === impl Shrinker ===

impl Shrinker {
    /// Creates a shrinker of a failing plan.
    pub fn new(plan: Plan) -> Self {
        Self {
            smallest: plan.clone(),
            proposed: plan,
            place: Position::default(),
            has_progressed: false,
        }
    }

    /// Returns the smallest plan that is known to fail.
    pub fn smallest(&self) -> &Plan {
        &self.smallest
    }

    /// Returns the plan to try next, smaller than [`smallest`](Self::smallest); `None` if nothing is left to try.
    pub fn propose(&mut self) -> Option<&Plan> {
        loop {
            let part = &PARTS[self.place.part];
            let count = part.len(&self.smallest);
            if self.place.chunk == 0 {
                self.place.chunk = count.div_ceil(2).max(1);
            }
            if self.place.offset < count {
                let end = count.min(self.place.offset + self.place.chunk);
                self.proposed = self.smallest.clone();
                part.take(&mut self.proposed, self.place.offset..end);
                if self.proposed != self.smallest {
                    return Some(&self.proposed);
                }
                self.place.offset = end;
            } else if self.place.chunk > 1 {
                self.place.chunk /= 2;
                self.place.offset = 0;
            } else if self.place.part + 1 < PARTS.len() {
                self.place = Position {
                    part: self.place.part + 1,
                    ..Position::default()
                };
            } else if self.has_progressed {
                self.has_progressed = false;
                self.place = Position::default();
            } else {
                return None;
            }
        }
    }

    /// Reports whether the last proposal still fails.
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
        // The current plan was tried and fails: the original or the last proposal.
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
