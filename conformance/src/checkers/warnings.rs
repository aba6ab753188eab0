//! Nobody warns of what was not meant to happen.
//!
//! Faults are announced by their plan, and so are handlers that panic. Everything else that is logged as a warning or an
//! error is news: a version that goes back, an object that cannot be decoded, a panic in the server.

use super::Finding;
use crate::{
    model::Model,
    trace::{Observation, Trace},
};

/// What an informer says when a request failed and it will try again.
const TRYING_AGAIN: &str = "trying again";
/// What it says when a handler panicked.
const HANDLER_PANICKED: &str = "handler panicked";
/// What it says when the server has told it several times that it may not ask, or that there is nothing to ask for.
const PAUSED: &str = "paused";
/// The faults by which a server says so.
const PAUSING: [&str; 2] = ["forbidden", "resource_gone"];

/// See the [module](self).
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let handlers_panic = trace
        .observations()
        .any(|observation| matches!(observation, Observation::HandlerJoins { panics: true, .. }));
    let pauses = trace.observations().any(
        |observation| matches!(observation, Observation::FaultBegins { name, .. } if PAUSING.contains(&name.as_str())),
    );
    let unannounced = trace
        .numbered()
        .filter_map(|(number, observation)| match observation {
            Observation::Warned { message, .. } => {
                let is_announced = match message.as_str() {
                    TRYING_AGAIN => true,
                    HANDLER_PANICKED => handlers_panic,
                    PAUSED => pauses,
                    _ => false,
                };
                (!is_announced).then(|| Finding::at(number, observation.to_string()))
            }
            _ => None,
        });
    unannounced.collect()
}
