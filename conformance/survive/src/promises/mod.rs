//! The promises, each a function over the record of a run.
//!
//! | promise | what breaks it |
//! |---|---|
//! | `end state` | a step does not succeed, or an object or a field in the end is not as in the reference |
//! | `churn` | more creations or deletions of a resource that the subject writes than in the reference |
//! | `quiet` | writes go on, or a restart changes something |
//! | `rate` | one write is repeated more than twenty times a second |
//! | `leaks` | an object whose owners are all gone |
//! | `finalizers` | an object that is terminating in the end |
//! | `blind deletes` | a deletion of an object with another uid than the one that was read |
//! | `fights` | the subject and somebody else write the same two states in turn |
//! | `alive` | an end of the process that the plan did not cause, or a panic in its output |
//! | `one leader` | a write of a replica that does not hold the lease |
//! | `status` | a status that says ready for a generation that was not read |
//! | `rule` | an expression of the user that is not true |

mod end_state;
mod churn;
mod quiet;
mod rate;
mod leaks;
mod finalizers;
mod blind_deletes;
mod fights;
mod alive;
mod leaders;
mod status;
pub(super) mod rules;
#[cfg(test)]
mod tests;

use super::{
    execute::Outcome, finding::Finding, plan::Plan, reference::Reference, workload::Workload,
};

/// A run and all that its checks know of it.
pub(super) struct Case<'a> {
    pub(super) outcome: &'a Outcome,
    pub(super) plan: &'a Plan,
    pub(super) workload: &'a Workload,
    /// `None` for the reference itself.
    pub(super) reference: Option<&'a Reference>,
    pub(super) rules: &'a rules::Rules,
}

const CHECKS: [fn(&Case<'_>) -> Vec<Finding>; 12] = [
    end_state::check,
    churn::check,
    quiet::check,
    rate::check,
    leaks::check,
    finalizers::check,
    blind_deletes::check,
    fights::check,
    alive::check,
    leaders::check,
    status::check,
    rules::check,
];

/// Returns the promises that a run broke, but for what its reference does, too.
pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(case)).collect();
    if let Some(reference) = case.reference {
        let is_known = |finding: &Finding| {
            let accepted = reference.left_out.iter().map(|it| &it.finding);
            let mut earlier = reference.findings.iter().chain(accepted);
            earlier.any(|earlier| earlier.is_same(finding))
        };
        findings.retain(|finding| !is_known(finding));
    }
    findings
}
