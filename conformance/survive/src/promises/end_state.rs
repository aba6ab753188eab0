//! The state in the end is the reference's.

use super::Case;
use crate::{
    end_state::EndState,
    finding::{Finding, Promise},
    trace::Event,
};

/// The number of differences that are reported.
const REPORTED_MAX: usize = 5;

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = failed_steps(case);
    let Some(reference) = case.reference else {
        return findings;
    };
    let end = EndState::of(&case.outcome.history, Some(&reference.end));
    let differences = reference.differences(&reference.end, &end);
    let count = differences.len();
    let reported = differences.iter().take(REPORTED_MAX);
    findings.extend(reported.map(|it| Finding::new(Promise::EndState, it.to_string())));
    if count > REPORTED_MAX {
        let more = format!("{} more differences", count - REPORTED_MAX);
        findings.push(Finding::new(Promise::EndState, more));
    }
    findings
}

fn failed_steps(case: &Case<'_>) -> Vec<Finding> {
    let events = case.outcome.trace.events.iter();
    events
        .filter_map(|(at, event)| match event {
            Event::StepFailed { place, reason, .. } if *place < case.workload.steps.len() => {
                let step = &case.workload.steps[*place];
                let text = format!("step {} ({step}): {reason}", place + 1);
                Some(Finding::new(Promise::EndState, text).at(*at))
            }
            _ => None,
        })
        .collect()
}
