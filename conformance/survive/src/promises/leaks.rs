//! No object outlives its owners.

use std::collections::BTreeSet;

use super::Case;
use crate::finding::{Finding, Promise};

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let end = case.outcome.history.end();
    let uids: BTreeSet<String> = end
        .iter()
        .map(|found| found.object.uid().to_owned())
        .collect();
    let mut findings = Vec::new();
    for found in end.iter().filter(|it| it.mentions("ownerReferences")) {
        let value = found.value();
        let Some(owners) = value["metadata"]["ownerReferences"].as_array() else {
            continue;
        };
        let is_gone = |owner: &serde_json::Value| {
            owner["uid"].as_str().is_some_and(|uid| !uids.contains(uid))
        };
        if !owners.is_empty() && owners.iter().all(is_gone) {
            let owner = format!("{} {}", owners[0]["kind"], owners[0]["name"]).replace('"', "");
            let text = format!("{} has outlived its owner, {owner}", found.title());
            findings.push(Finding::new(Promise::Leaks, text));
        }
    }
    findings
}
