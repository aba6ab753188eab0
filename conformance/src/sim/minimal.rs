//! The smallest plan that breaks the same promise.

use super::{Outcome, Plan, RunOptions, run, shrink::Shrinker};

/// The number of smaller plans that are tried.
const ATTEMPT_COUNT_MAX: usize = 3_000;

/// A plan from which nothing more can be removed, and its outcome.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MinimalPlan {
    /// The plan.
    pub plan: Plan,
    /// Its run, in which the same checker has the first finding.
    pub outcome: Outcome,
}

// === impl MinimalPlan ===

impl MinimalPlan {
    /// Shrinks `plan`, whose run was `outcome`, as long as the same checker has the first finding.
    ///
    /// Returns `None` if no checker has a finding.
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
            let outcome = run(proposed, &RunOptions::default());
            let first = outcome.broken().next();
            // By the same checker: a plan that fails for another reason would explain nothing.
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
