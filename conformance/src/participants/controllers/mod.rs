//! Controllers on top of informers: a handler that fills a work queue, and workers that reconcile its items.
//!
//! A controller belongs to an informer, in plans as in runs: the informers' room draws, starts and stops it.

mod plan;
mod draw;
mod event;
pub(crate) mod run;
mod reconciles;
mod queue_model;
pub(crate) mod transitions;

pub(crate) use self::{draw::draw, plan::OPTIONS};
pub use self::{
    event::{ControllerEvent, QueueEvent, QueueState, ReconcileOutcome},
    plan::{ControllerPlan, QueueAction, QueueOperation, QueueStop},
};
use crate::checkers::Checker;

/// The promises of controllers and their queues.
pub(crate) const CHECKERS: &[Checker] = &[
    Checker::of_participant(
        "reconciles",
        "a controller reconciles each object after its last change, one at a time, and sees the newest state",
        reconciles::check,
        |seen| {
            matches!(
                seen.event(),
                Some(ControllerEvent {
                    event: QueueEvent::Begins { .. },
                    ..
                })
            )
        },
    ),
    Checker::of_participant(
        "work_queues",
        "a queue hands out each item when it is due, in order and at once",
        queue_model::check_items,
        |seen| seen.event::<ControllerEvent>().is_some(),
    ),
    Checker::of_participant(
        "queue_stops",
        "a queue that was shut down takes nothing new, and ends when its work is done",
        queue_model::check_stops,
        |seen| {
            matches!(
                seen.event(),
                Some(ControllerEvent {
                    event: QueueEvent::Stops(_),
                    ..
                })
            )
        },
    ),
];

/// The checkers that assume instant delivery.
pub(crate) const OF_INSTANT_DELIVERY: [&str; 2] = ["work_queues", "queue_stops"];

#[cfg(test)]
mod tests;
