//! No task, watch, body or handler outlives its owner.

use std::{collections::BTreeMap, time::Duration};

use super::{Finding, differences};
use crate::{
    checkers::clock_leaps::ClockLeaps,
    participants::controllers::{ControllerEvent, QueueEvent},
    trace::{Observation, Part, Phase, Trace},
};

/// The tasks of an informer without handlers: its reflector and its writer.
const OWN_TASK_COUNT: usize = 2;
/// The time that the last call of a handler that leaves may take.
const LAST_CALL: Duration = Duration::from_secs(1);

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let mut findings = differences::of(trace, Part::Handler);
    let mut is_shutting_down = false;
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut stopped: BTreeMap<usize, usize> = BTreeMap::new();
    let mut attendance = Listeners::default();
    let mut leaps = ClockLeaps::default();
    let mut last_at = Duration::ZERO;
    for (number, (at, observation)) in trace.timed().enumerate() {
        if leaps.observe(at, observation) {
            attendance.wake(last_at, at);
        }
        last_at = at;
        findings.extend(
            attendance
                .observe(at, observation)
                .map(|text| Finding::at(number, format!("{observation}: {text}"))),
        );
        match observation {
            Observation::Phase(phase) => is_shutting_down = *phase == Phase::Shutdown,
            Observation::Answer { request, .. } => {
                open.insert(*request, number);
            }
            Observation::Ended { request, .. } => {
                open.remove(request);
            }
            Observation::InformerStopped {
                informer,
                task_count,
            } => {
                stopped.insert(*informer, number);
                if *task_count > 0 {
                    findings.push(Finding::at(number, observation.to_string()));
                }
            }
            Observation::Request { informer, .. } if stopped.contains_key(informer) => {
                findings.push(Finding::at(
                    number,
                    format!("{observation} after it stopped"),
                ));
            }
            Observation::Notified(notified) if stopped.contains_key(&notified.informer) => {
                findings.push(Finding::at(number, format!("{notified} after it stopped")));
            }
            Observation::OpenWatches {
                count,
                informer_count,
            } => {
                let allowed = if is_shutting_down { 0 } else { *informer_count };
                if *count > allowed {
                    findings.push(Finding::at(number, observation.to_string()));
                }
            }
            Observation::TasksLeft { count } if *count > 0 => {
                findings.push(Finding::at(number, observation.to_string()));
            }
            _ => {}
        }
    }
    if is_shutting_down {
        let left = open.iter().map(|(request, number)| {
            Finding::at(
                *number,
                format!("the body of request {request} was never ended or dropped"),
            )
        });
        findings.extend(left);
    }
    findings
}

/// The handlers of each informer, with the time at which each left.
#[derive(Default)]
struct Listeners(BTreeMap<usize, BTreeMap<Listener, Option<Duration>>>);

/// A handler by its number, or that of a controller by the controller's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Listener {
    Handler(usize),
    Controller(usize),
}

// === impl Listeners ===

impl Listeners {
    /// Puts off what those had no time for that had left when the machine fell asleep.
    fn wake(&mut self, asleep_since: Duration, at: Duration) {
        let handlers = self.0.values_mut().flat_map(BTreeMap::values_mut);
        for left in handlers.flatten() {
            if *left + LAST_CALL >= asleep_since {
                *left = at;
            }
        }
    }

    /// Takes an observation, and describes what is left of handlers that have left.
    fn observe(&mut self, at: Duration, observation: &Observation) -> Option<String> {
        match observation {
            Observation::HandlerJoins {
                informer, handler, ..
            } => {
                self.join(*informer, Listener::Handler(*handler));
            }
            // Before that it has no task that could drop a handler.
            Observation::InformerStarts { informer, .. } => {
                let handlers = self.0.entry(*informer).or_default().values_mut();
                handlers.flatten().for_each(|left| *left = at);
            }
            Observation::HandlerLeaves { informer, handler } => {
                self.leave(*informer, Listener::Handler(*handler), at);
            }
            Observation::Participant(event) => {
                if let Some(own) = event.get::<ControllerEvent>() {
                    let listener = Listener::Controller(own.controller);
                    match own.event {
                        QueueEvent::Starts(_) => self.join(own.informer, listener),
                        QueueEvent::Stopped => self.leave(own.informer, listener, at),
                        _ => {}
                    }
                }
            }
            Observation::Status {
                informer,
                task_count,
                handler_count,
                held_handler_count,
                ..
            } => {
                let handlers = self.0.get(informer).into_iter().flatten();
                let within = |limit: Duration| {
                    move |left: &Option<Duration>| left.is_none_or(|left| left + limit >= at)
                };
                let times: Vec<Option<Duration>> = handlers.map(|(_, left)| *left).collect();
                let present = times
                    .iter()
                    .filter(|left| within(Duration::ZERO)(left))
                    .count();
                let calling = times.iter().filter(|left| within(LAST_CALL)(left)).count();
                if *handler_count > present {
                    return Some(format!("{present} have not left"));
                }
                if *held_handler_count > calling {
                    return Some(format!("{calling} handlers may exist"));
                }
                if *task_count > OWN_TASK_COUNT + calling {
                    return Some(format!("{calling} handlers may be called"));
                }
            }
            _ => {}
        }
        None
    }

    fn join(&mut self, informer: usize, listener: Listener) {
        self.0.entry(informer).or_default().insert(listener, None);
    }

    fn leave(&mut self, informer: usize, listener: Listener, at: Duration) {
        let left = self.0.entry(informer).or_default().get_mut(&listener);
        // Once it has left, its end may be reported again.
        if let Some(left @ None) = left {
            *left = Some(at);
        }
    }
}
