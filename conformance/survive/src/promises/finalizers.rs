//! Nothing stays terminating.

use super::Case;
use crate::finding::{Finding, Promise};

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let end = case.outcome.history.end();
    for found in end.iter().filter(|it| it.mentions("deletionTimestamp")) {
        let value = found.value();
        let metadata = &value["metadata"];
        if metadata["deletionTimestamp"].is_string() {
            let finalizers = &metadata["finalizers"];
            let text = format!("{} stays terminating, with {finalizers}", found.title());
            findings.push(Finding::new(Promise::Finalizers, text));
        }
    }
    findings
}
