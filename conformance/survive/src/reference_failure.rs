//! The reason why there is no reference: the server refuses the user's own step, or the subject does not get through.

use std::{collections::BTreeMap, time::Duration};

use super::{
    error::CampaignError,
    execute::Outcome,
    finding::{Finding, Promise},
    timeline::timeline,
    trace::{Event, RunTrace, WriteKey},
    workload::{Action, Workload},
};

/// The time at the end of a run in which the writes of one that is never quiet are counted.
const LATE: Duration = Duration::from_secs(10);

/// Returns the failure of a run without perturbation that did not get through the steps, and broke the promises of `found`.
pub(super) fn no_reference(
    outcome: &Outcome,
    workload: &Workload,
    found: &[Finding],
) -> Option<CampaignError> {
    let mut events = outcome.trace.events.iter();
    let (step, place, reason, is_refused) = events.find_map(|(_, event)| match event {
        Event::StepFailed {
            place,
            reason,
            is_refused,
        } => Some((workload.steps.get(*place)?, *place, reason, *is_refused)),
        _ => None,
    })?;
    let place = format!("{} ({step})", workload.step_named(place));
    // A process that has ended is the cause of the rest.
    let ended = found.iter().find(|it| it.promise == Promise::Alive);
    if is_refused && ended.is_none() {
        let reason = reason.clone();
        return Some(CampaignError::Refused { place, reason });
    }
    let reason = match ended {
        Some(ended) if ended.text.contains("exit status: 0") => format!(
            "{}; a program that goes to the background ends so: run it in the foreground",
            ended.text
        ),
        Some(ended) => ended.text.clone(),
        None => format!("{place}: {reason}{}", advice(&step.action, &outcome.trace)),
    };
    Some(CampaignError::NoReference {
        reason: reason + &unserved(&outcome.trace),
        output: outcome.output.first().cloned().unwrap_or_default(),
        timeline: timeline(&outcome.trace, found),
    })
}

/// Returns the words for what else than the subject may be wrong.
fn advice(action: &Action, trace: &RunTrace) -> String {
    match action {
        Action::Wait { .. } => {
            "; if the subject is right, correct `until`, or give it longer by `within`".to_owned()
        }
        Action::Quiet(_) => busiest(trace).map_or(String::new(), |(key, count)| {
            format!(": its last {LATE:?} had {key} {count} times")
        }),
        _ => String::new(),
    }
}

/// Returns the write that came most often in the last seconds of a run, and how often.
fn busiest(trace: &RunTrace) -> Option<(&WriteKey, usize)> {
    let last = trace.writes.iter().map(|write| write.at).max()?;
    let late = trace.writes.iter().filter(|write| write.at + LATE >= last);
    let mut counts: BTreeMap<&WriteKey, usize> = BTreeMap::new();
    for write in late {
        *counts.entry(&write.point.key).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count)
}

/// Returns the words for the resources that a subject asked for in vain.
fn unserved(trace: &RunTrace) -> String {
    match trace.unserved.as_slice() {
        [] => String::new(),
        names => format!(
            "; it asked for {}, which the server does not have: --crds names the files of definitions",
            names.join(", ")
        ),
    }
}
