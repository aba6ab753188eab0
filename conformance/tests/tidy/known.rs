//! The findings that are known and not yet remedied: a list that can only shrink.
//!
//! `known.txt` has a line for each: the rule, the file and the finding. A listed finding that is gone fails the test too.

use std::collections::BTreeSet;

use crate::finding::Finding;

const KNOWN: &str = include_str!("known.txt");

/// Compares the findings of a rule with its known ones.
///
/// # Panics
///
/// If a finding is not listed, or a listed one is gone.
pub(crate) fn check(rule: &str, findings: &[Finding]) {
    let prefix = format!("{rule}: ");
    let known = KNOWN.lines().filter_map(|line| line.strip_prefix(&prefix));
    let known: BTreeSet<String> = known.map(str::to_owned).collect();
    let found: BTreeSet<String> = findings.iter().map(Finding::key).collect();
    let mut report: Vec<String> = Vec::new();
    let unknown = findings
        .iter()
        .filter(|finding| !known.contains(&finding.key()));
    report.extend(unknown.map(Finding::to_string));
    let gone = known.difference(&found);
    report.extend(gone.map(|key| {
        format!("gone, remove its line from conformance/tests/tidy/known.txt: {prefix}{key}")
    }));
    assert!(report.is_empty(), "{rule}:\n{}", report.join("\n"));
}
