//! A model of the queue of each controller, which follows a trace and says where the real one deviates.
//!
//! On the paused clock the model knows at each moment which items are queued and in which order, which are delayed and until
//! when, and which ones the workers have. After its first deviation a queue is not followed any more: one deviation leads to
//! others.

mod queue;
mod followed;

use std::{collections::BTreeMap, time::Duration};

use self::followed::Followed;
use super::{Finding, deliveries::ClockLeaps};
use crate::trace::{Controlled, Observation, QueueEvent, Trace};

/// The promise that a deviation breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The items that are handed out, and their times.
    Items,
    /// The end of a queue.
    Stop,
    /// A promise of another checker.
    Elsewhere,
}

/// A deviation from the model.
#[derive(Debug)]
pub(super) struct Deviation {
    pub(super) about: About,
    pub(super) text: String,
}

/// Finds the first deviation of each queue that breaks a promise of this kind.
pub(super) fn findings(trace: &Trace, about: About) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut queues: BTreeMap<(usize, usize), Option<Followed>> = BTreeMap::new();
    let mut leaps = ClockLeaps::default();
    let mut woke_at = Duration::ZERO;
    let mut is_complete = false;
    for (number, (at, observation)) in trace.timed().enumerate() {
        if leaps.observe(at, observation) {
            woke_at = at;
        }
        is_complete |= matches!(observation, Observation::TasksLeft { .. });
        let Observation::Controlled(controlled) = observation else {
            continue;
        };
        let place = (controlled.informer, controlled.controller);
        if let QueueEvent::Starts(plan) = &controlled.event {
            queues.insert(place, Some(Followed::new(plan)));
            continue;
        }
        let Some(followed) = queues.get_mut(&place) else {
            continue;
        };
        if let Some(queue) = followed
            && let Err(deviation) = queue.follow(at, woke_at, &controlled.event)
        {
            *followed = None;
            if deviation.about == about {
                findings.push(Finding::at(number, told(controlled, &deviation)));
            }
        }
    }
    if is_complete && about == About::Stop {
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

fn told(controlled: &Controlled, deviation: &Deviation) -> String {
    format!("{controlled}: {}", deviation.text)
}

// === impl Deviation ===

impl Deviation {
    fn of_items(text: impl Into<String>) -> Self {
        Self {
            about: About::Items,
            text: text.into(),
        }
    }

    fn of_stop(text: impl Into<String>) -> Self {
        Self {
            about: About::Stop,
            text: text.into(),
        }
    }

    fn elsewhere() -> Self {
        Self {
            about: About::Elsewhere,
            text: String::new(),
        }
    }
}
