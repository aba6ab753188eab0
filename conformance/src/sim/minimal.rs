//! The smallest plan that breaks the same promise.

use super::{Outcome, run};
use crate::plan::{Plan, shrink::Shrinker};

/// How many smaller plans are tried.
const ATTEMPT_COUNT_MAX: usize = 3_000;

/// A plan from which nothing more can be taken away, and what becomes of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Minimal {
    /// The plan.
    pub plan: Plan,
    /// Its run, which breaks a promise to the same checker as the plan that it was made from.
    pub outcome: Outcome,
}

// === impl Minimal ===

impl Minimal {
    /// Makes `plan` smaller, whose run was `outcome`, as long as the same checker complains first.
    ///
    /// `None` if no checker complains.
    ///
    /// # Panics
    ///
    /// Within a tokio runtime.
    pub fn of(plan: &Plan, outcome: &Outcome) -> Option<Self> {
        let checker = outcome.broken().next()?.checker;
        let mut smallest = outcome.clone();
        let mut shrinker = Shrinker::new(plan.clone());
        for _ in 0..ATTEMPT_COUNT_MAX {
            let Some(proposed) = shrinker.propose() else {
                break;
            };
            let outcome = run(proposed);
            let first = outcome.broken().next();
            let still_fails = first.is_some_and(|violation| violation.checker == checker);
            if still_fails {
                smallest = outcome;
            }
            shrinker.judge(still_fails);
        }
        Some(Self {
            plan: shrinker.smallest().clone(),
            outcome: smallest,
        })
    }
}
