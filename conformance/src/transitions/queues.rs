//! The events of a controller's work queue.

use crate::{
    plan::{QueueAction, QueueStop},
    trace::{Controlled, Observation, QueueEvent, ReconcileOutcome},
};

/// Takes an observation, and returns the event that it is.
pub(super) fn observe(observation: &Observation) -> Option<&'static str> {
    let Observation::Controlled(Controlled { event, .. }) = observation else {
        return None;
    };
    Some(match event {
        QueueEvent::Heard { can_wait: true, .. } => "added, can wait",
        QueueEvent::Heard { .. } => "added",
        QueueEvent::Operated {
            action,
            has_cancelled,
            ..
        } => match action {
            QueueAction::Add(_) => "added with a priority",
            QueueAction::AddAfter(_) => "delayed",
            QueueAction::AddRateLimited => "retried from outside",
            QueueAction::CancelDelayed if *has_cancelled => "delay cancelled",
            QueueAction::CancelDelayed => "no delay to cancel",
            QueueAction::Forget => "failures forgotten",
        },
        QueueEvent::Ends { outcome, .. } => match outcome {
            ReconcileOutcome::Done => "done",
            ReconcileOutcome::RequeueAfter(_) => "to be repeated",
            ReconcileOutcome::Failed => "failed",
            ReconcileOutcome::Panicked => "panicked",
            ReconcileOutcome::Dropped => "aborted",
        },
        QueueEvent::Stops(stop) => match stop {
            QueueStop::Drain => "drains",
            QueueStop::ShutDown => "shut down",
            QueueStop::Now => "shut down at once",
            QueueStop::Abort => "workers aborted",
        },
        QueueEvent::Releases => "shut down while it drains",
        QueueEvent::Drained { is_all: true } => "drained",
        QueueEvent::Drained { is_all: false } => "drain given up",
        _ => return None,
    })
}

/// The events that are possible.
pub(super) const KNOWN: [&str; 20] = [
    "added, can wait",
    "added",
    "added with a priority",
    "delayed",
    "retried from outside",
    "delay cancelled",
    "no delay to cancel",
    "failures forgotten",
    "done",
    "to be repeated",
    "failed",
    "panicked",
    "aborted",
    "drains",
    "shut down",
    "shut down at once",
    "workers aborted",
    "shut down while it drains",
    "drained",
    "drain given up",
];
