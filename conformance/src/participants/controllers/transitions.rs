//! The events of a controller's work queue.

use super::{
    event::{ControllerEvent, QueueEvent, ReconcileOutcome},
    plan::{QueueAction, QueueStop},
};
use crate::trace::Observation;

/// Decides whether an event of a queue is of a kind.
type EventPredicate = fn(&QueueEvent) -> bool;

/// The kinds of events, each with its name. An event is of the first kind that fits.
const KINDS: [(&str, EventPredicate); 20] = [
    ("added, can wait", |event| {
        matches!(event, QueueEvent::Heard { can_wait: true, .. })
    }),
    ("added", |event| matches!(event, QueueEvent::Heard { .. })),
    ("added with a priority", |event| {
        acts(event, |action| matches!(action, QueueAction::Add(_)))
    }),
    ("delayed", |event| {
        acts(event, |action| matches!(action, QueueAction::AddAfter(_)))
    }),
    ("retried from outside", |event| {
        acts(event, |action| *action == QueueAction::AddRateLimited)
    }),
    ("delay cancelled", |event| {
        let is_cancelled = matches!(
            event,
            QueueEvent::Operated {
                has_cancelled: true,
                ..
            }
        );
        is_cancelled && acts(event, |action| *action == QueueAction::CancelDelayed)
    }),
    ("no delay to cancel", |event| {
        acts(event, |action| *action == QueueAction::CancelDelayed)
    }),
    ("failures forgotten", |event| {
        acts(event, |action| *action == QueueAction::Forget)
    }),
    ("done", |event| {
        ends(event, |outcome| *outcome == ReconcileOutcome::Done)
    }),
    ("to be repeated", |event| {
        ends(event, |outcome| {
            matches!(outcome, ReconcileOutcome::RequeueAfter(_))
        })
    }),
    ("failed", |event| {
        ends(event, |outcome| *outcome == ReconcileOutcome::Failed)
    }),
    ("panicked", |event| {
        ends(event, |outcome| *outcome == ReconcileOutcome::Panicked)
    }),
    ("aborted", |event| {
        ends(event, |outcome| *outcome == ReconcileOutcome::Dropped)
    }),
    ("drains", |event| {
        *event == QueueEvent::Stops(QueueStop::Drain)
    }),
    ("shut down", |event| {
        *event == QueueEvent::Stops(QueueStop::ShutDown)
    }),
    ("shut down at once", |event| {
        *event == QueueEvent::Stops(QueueStop::Now)
    }),
    ("workers aborted", |event| {
        *event == QueueEvent::Stops(QueueStop::Abort)
    }),
    ("shut down while it drains", |event| {
        *event == QueueEvent::Releases
    }),
    ("drained", |event| {
        *event == QueueEvent::Drained { is_all: true }
    }),
    ("drain given up", |event| {
        *event == QueueEvent::Drained { is_all: false }
    }),
];

/// Takes an observation, and returns the name of the event that it is, with the queue's informer and its number there.
pub(crate) fn observe(observation: &Observation) -> Option<((usize, usize), &'static str)> {
    let own = observation.event::<ControllerEvent>()?;
    let (name, _) = KINDS.iter().find(|(_, is)| is(&own.event))?;
    Some(((own.informer, own.controller), name))
}

/// Returns the names of the events that are possible.
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(name, _)| *name)
}

/// Returns true if the event is such an action from outside.
fn acts(event: &QueueEvent, is: fn(&QueueAction) -> bool) -> bool {
    matches!(event, QueueEvent::Operated { action, .. } if is(action))
}

/// Returns true if the event is such an end of a reconcile.
fn ends(event: &QueueEvent, is: fn(&ReconcileOutcome) -> bool) -> bool {
    matches!(event, QueueEvent::Ends { outcome, .. } if is(outcome))
}
