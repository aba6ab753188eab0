//! No kind has more creations or deletions than in the reference, but for what the plan did.

use std::collections::BTreeSet;

use super::Case;
use crate::{
    finding::{Finding, Promise},
    history::Counts,
    plan::Perturbation,
};

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let Some(reference) = case.reference else {
        return Vec::new();
    };
    // What the server's own controllers make of it may differ with the times of changes.
    let writes = case.outcome.trace.writes.iter();
    let written: BTreeSet<&str> = writes
        .filter(|write| write.is_point())
        .map(|write| write.point.key.resource.as_str())
        .collect();
    let deletes = case.plan.perturbations.iter();
    let deletes = deletes.filter(|it| matches!(it, Perturbation::Delete { .. }));
    let extra_count = deletes.count();
    let mut findings = Vec::new();
    for (resource, counts) in case.outcome.history.counts() {
        if !written.contains(resource.as_str()) {
            continue;
        }
        let reference_counts = reference.counts.get(&resource).copied();
        let allowed = allowed(reference_counts.unwrap_or_default(), extra_count);
        for (what, count, allowed) in [
            ("created", counts.created, allowed.created),
            ("deleted", counts.deleted, allowed.deleted),
        ] {
            if count > allowed {
                let text = format!("{count} {resource} were {what} instead of {allowed}");
                findings.push(Finding::new(Promise::Churn, text));
            }
        }
    }
    findings
}

/// A deletion by the plan also deletes the object's dependents, all of which are created again.
fn allowed(reference_counts: Counts, deletion_count: usize) -> Counts {
    let Counts { created, deleted } = reference_counts;
    Counts {
        created: created + (created + 1) * deletion_count,
        deleted: deleted + (created + 1) * deletion_count,
    }
}
