//! The runs of a plan that broke a promise: a race does not break one each time.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of runs that break a promise, after which a plan is not run again.
const BROKEN_ENOUGH: usize = 2;
/// The number of runs of a plan, at most.
const RUNS_MAX: usize = 3;

/// The runs of one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// Those that broke a promise.
    pub broken: usize,
    /// All of them.
    pub total: usize,
}

// === impl Runs ===

impl Runs {
    /// Returns those of a plan that was run once.
    pub(super) fn one(is_broken: bool) -> Self {
        Self {
            broken: usize::from(is_broken),
            total: 1,
        }
    }

    /// Returns whether they leave in doubt how often the plan breaks a promise.
    pub(super) fn is_in_doubt(self) -> bool {
        self.broken < BROKEN_ENOUGH && self.total < RUNS_MAX
    }

    /// Counts another run.
    pub(super) fn count(&mut self, is_broken: bool) {
        self.broken += usize::from(is_broken);
        self.total += 1;
    }
}

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {} of {} runs", self.broken, self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a plan as often as it has to be, and returns how often it broke a promise.
    fn ratio(outcomes: &[bool]) -> String {
        let mut runs = Runs::one(true);
        let mut outcomes = outcomes.iter();
        while runs.is_in_doubt() {
            runs.count(*outcomes.next().unwrap());
        }
        assert_eq!(outcomes.next(), None);
        runs.to_string()
    }

    #[test]
    fn a_plan_is_run_again_until_it_is_sure_or_seems_to_be_a_race() {
        assert_eq!(ratio(&[true]), "in 2 of 2 runs");
        assert_eq!(ratio(&[false, true]), "in 2 of 3 runs");
        assert_eq!(ratio(&[false, false]), "in 1 of 3 runs");
    }
}
