//! A model of the queue of each controller, which follows a trace and says where the real one deviates.
//!
//! On the paused clock the model knows at each moment which items are queued and in which order, which are delayed and until
//! when, and which ones the workers have. After its first deviation a queue is not followed any more: one deviation leads to
//! others.

mod queue;
mod model;

use std::{collections::BTreeMap, time::Duration};

use self::model::QueueModel;
use super::event::{ControllerEvent, QueueEvent};
use crate::{
    checkers::{Finding, clock_leaps::ClockLeaps},
    trace::{Observation, Trace},
};

/// The promise that a deviation breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// The items that are handed out, and their times.
    Items,
    /// The end of a queue.
    Stop,
    /// A promise of another checker.
    Elsewhere,
}

/// A deviation from the model.
#[derive(Debug)]
struct Deviation {
    about: Promise,
    text: String,
}

/// Checks that a queue hands out each item when it is due: once for all its adds, by priority and then in order, never before its
/// delay is over, and at once if a worker waits.
///
/// Retries wait for the item's exponential delay, which ends with a success. The numbers that the queue reports are right.
pub(super) fn check_items(trace: &Trace) -> Vec<Finding> {
    findings(trace, Promise::Items)
}

/// Checks that after a shutdown a queue takes nothing new, and stops exactly when the work that it still hands out is done.
///
/// A drain and a plain shutdown hand out what is queued, a shutdown at once drops it, and an abort of the workers puts back what
/// they were working on.
pub(super) fn check_stops(trace: &Trace) -> Vec<Finding> {
    findings(trace, Promise::Stop)
}

/// Finds the first deviation of each queue that breaks a promise of this kind.
fn findings(trace: &Trace, about: Promise) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut queues: BTreeMap<(usize, usize), Option<QueueModel>> = BTreeMap::new();
    let mut leaps = ClockLeaps::default();
    let mut woke_at = Duration::ZERO;
    let mut is_complete = false;
    for (number, (at, observation)) in trace.timed().enumerate() {
        if leaps.observe(at, observation) {
            woke_at = at;
        }
        is_complete |= matches!(observation, Observation::TasksLeft { .. });
        let Some(controlled) = observation.event::<ControllerEvent>() else {
            continue;
        };
        let place = (controlled.informer, controlled.controller);
        if let QueueEvent::Starts(plan) = &controlled.event {
            queues.insert(place, Some(QueueModel::new(plan)));
            continue;
        }
        let Some(followed) = queues.get_mut(&place) else {
            continue;
        };
        if let Some(queue) = followed
            && let Err(deviation) = queue.follow(at, woke_at, &controlled.event)
        {
            // After a deviation the model no longer follows the queue: all later ones would come from it.
            *followed = None;
            if deviation.about == about {
                findings.push(Finding::at(number, deviation_text(controlled, &deviation)));
            }
        }
    }
    if is_complete && about == Promise::Stop {
        let running = queues.iter().filter(|(_, queue)| {
            let queue = queue.as_ref();
            queue.is_some_and(|queue| !queue.has_stopped())
        });
        findings.extend(running.map(|((informer, controller), _)| {
            Finding::whole(format!("controller {informer}.{controller} never stopped"))
        }));
    }
    findings
}

fn deviation_text(controlled: &ControllerEvent, deviation: &Deviation) -> String {
    format!("{controlled}: {}", deviation.text)
}

// === impl Deviation ===

impl Deviation {
    fn of_items(text: impl Into<String>) -> Self {
        Self {
            about: Promise::Items,
            text: text.into(),
        }
    }

    fn of_stop(text: impl Into<String>) -> Self {
        Self {
            about: Promise::Stop,
            text: text.into(),
        }
    }

    fn elsewhere() -> Self {
        Self {
            about: Promise::Elsewhere,
            text: String::new(),
        }
    }
}
