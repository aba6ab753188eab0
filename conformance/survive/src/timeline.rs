//! A run as a timeline: what the subject had seen, what it wrote, and what was done to it.

use std::{fmt::Write as _, time::Duration};

use super::{
    finding::Finding,
    trace::{Effect, Event, RunTrace},
};

const WRITES: &str = "a string takes what is written";

/// Returns the events of a run in order: what the subject had seen, what it wrote, and what was done to it.
pub fn timeline(trace: &RunTrace, findings: &[Finding]) -> String {
    let mut text = String::new();
    let mut line = |at: Duration, event: &str| {
        writeln!(text, "{:9.3} s  {event}", at.as_secs_f64()).expect(WRITES);
    };
    let mut due: Vec<&Finding> = findings.iter().filter(|it| it.at_ms.is_some()).collect();
    due.sort_by_key(|finding| finding.at_ms);
    let mut due = due.into_iter().peekable();
    for (at, event) in &trace.events {
        let now = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        line(*at, &description(event, trace));
        while let Some(finding) = due.next_if(|finding| finding.at_ms.is_some_and(|it| it <= now)) {
            line(*at, &format!(">>> {finding}"));
        }
    }
    for finding in findings.iter().filter(|it| it.at_ms.is_none()) {
        writeln!(text, "   in the end  >>> {finding}").expect(WRITES);
    }
    text
}

fn description(event: &Event, trace: &RunTrace) -> String {
    match event {
        Event::Step { place, text } => format!("step {}: {text}", place + 1),
        Event::StepFailed { place, reason, .. } => format!("step {} failed: {reason}", place + 1),
        Event::Started {
            replica,
            incarnation,
        } => format!("replica {replica} starts, process {incarnation}"),
        Event::Ended {
            replica,
            how,
            is_planned,
            ..
        } => match is_planned {
            true => format!("replica {replica} {how}, by the plan"),
            false => format!("replica {replica} {how}"),
        },
        Event::Stopped { replica, time } => {
            format!("replica {replica} is stopped for {time:?}")
        }
        Event::Woken { replica } => format!("replica {replica} is woken"),
        Event::Frozen { resource } => format!("plan: {resource} stand still"),
        Event::Thawed => "plan: everything goes on".to_owned(),
        Event::Perturbed(text) => format!("plan: {text}"),
        Event::Wrote(number) => {
            let write = &trace.writes[*number];
            let effect = match write.effect {
                Effect::Changed => "",
                Effect::Nothing => ", which changes nothing",
                Effect::Unanswered => ", without an answer",
                Effect::Refused => ", refused",
            };
            let seen = match &write.seen {
                Some(seen) => format!(" (had read version {})", seen.revision),
                None => String::new(),
            };
            let why = match write.message.as_str() {
                "" => String::new(),
                message => format!(": {message}"),
            };
            format!(
                "replica {} {}{seen}{effect}{why}",
                write.replica, write.point
            )
        }
    }
}
