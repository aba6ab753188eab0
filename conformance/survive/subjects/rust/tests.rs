//! Each bug is found in process by a promise that fits it, and no operator without its bug is blamed.

use survive::{Family, Promise};

use crate::{in_process::check, operators::Operator};

/// Returns the family that finds an operator's bug, and the promise that the bug breaks.
fn of(operator: Operator) -> (Family, Promise) {
    match operator {
        Operator::Bundle | Operator::Directory => (Family::Crash, Promise::EndState),
        Operator::Fleet | Operator::Janitor => (Family::Stale, Promise::Churn),
        Operator::Lighthouse => (Family::Leader, Promise::Leaders),
        Operator::Registry => (Family::Unobserved, Promise::EndState),
        Operator::Ticket => (Family::LostAnswer, Promise::EndState),
        Operator::Updater => (Family::Stale, Promise::Rule),
    }
}

/// Returns the number of plans in which the bug is found.
fn plans(operator: Operator) -> usize {
    match operator {
        Operator::Updater => 16,
        _ => 6,
    }
}

#[test]
fn every_bug_is_found() {
    for operator in Operator::ALL {
        let (family, promise) = of(operator);
        let check = check(operator, true).families([family]);
        let report = check.plans(plans(operator)).report().unwrap();
        let mut findings = report.failed().flat_map(|verdict| &verdict.findings);
        let is_found = findings.any(|finding| finding.promise == promise);
        assert!(is_found, "{operator:?}: {report}");
    }
}

/// Some plans of all families; all plans and more are run at night.
#[test]
fn no_correct_operator_is_blamed() {
    for operator in Operator::ALL {
        check(operator, false).plans(6).run();
    }
}
