//! In the end nothing is written any more, and a restart then writes nothing.

use std::collections::BTreeMap;

use super::Case;
use crate::{
    finding::{Finding, Promise},
    trace::{Event, WriteKey},
};

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let trace = &case.outcome.trace;
    let mut findings = Vec::new();
    for (at, event) in &trace.events {
        if let Event::StepFailed { place, reason, .. } = event
            && *place >= case.workload.steps.len()
        {
            findings.push(Finding::new(Promise::Quiet, reason.clone()).at(*at));
        }
    }
    let Some(restarted) = trace.restarted_at else {
        return findings;
    };
    let late = trace.writes.iter().filter(|write| write.at >= restarted);
    let mut changed: BTreeMap<&WriteKey, usize> = BTreeMap::new();
    for write in late.filter(|write| write.is_point()) {
        *changed.entry(&write.point.key).or_default() += 1;
    }
    for (key, count) in changed {
        let times = if count == 1 { "" } else { ", several times" };
        let text = format!("restarting in the end writes: {key}{times}");
        findings.push(Finding::new(Promise::Quiet, text));
    }
    findings
}
