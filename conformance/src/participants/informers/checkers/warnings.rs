//! Nothing unexpected is logged as a warning or an error.
//!
//! Faults are announced by their plan, and so are handlers that panic, reconciles that panic or fail too often, and types that
//! refuse objects. Everything else is a violation: a version that goes back, an object that cannot be decoded, a panic in the
//! server.

use std::collections::BTreeSet;

use fakeserver::faults::{Fault, Recovery};

use super::{super::subjects::FAILING, Finding};
use crate::trace::{Observation, Trace};

/// The message of an informer after a failed request that it retries.
const TRYING_AGAIN: &str = "trying again";
/// The message after a panic of a handler.
const HANDLER_PANICKED: &str = "handler panicked";
/// The message about an object that the informer's type refuses.
const UNDECODABLE: &str = "cannot decode an object";
/// The message after the server has repeatedly said that the resource is forbidden or does not exist.
const PAUSED: &str = "paused";
/// The message about an object for which the function of an index fails.
const NOT_INDEXED: &str = "object not indexed";

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    let handlers_panic = trace
        .observations()
        .any(|observation| matches!(observation, Observation::HandlerJoins { panics: true, .. }));
    let types_refuse = trace.observations().any(
        |observation| matches!(observation, Observation::InformerStarts { selection, .. } if selection.is_strict),
    );
    let pauses = trace.observations().any(
        |observation| matches!(observation, Observation::FaultBegins { name, .. } if makes_pause(name)),
    );
    let of_participants: BTreeSet<&str> = trace
        .observations()
        .filter_map(|observation| match observation {
            Observation::Participant(event) => Some(event.as_event().warnings()),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    let unannounced = trace
        .numbered()
        .filter_map(|(number, observation)| match observation {
            Observation::Warned { message, fields } => {
                let is_announced = match message.as_str() {
                    TRYING_AGAIN => true,
                    HANDLER_PANICKED => handlers_panic,
                    UNDECODABLE => types_refuse,
                    PAUSED => pauses,
                    NOT_INDEXED => fields.contains(FAILING),
                    message => of_participants.contains(message),
                };
                (!is_announced).then(|| Finding::at(number, observation.to_string()))
            }
            _ => None,
        });
    unannounced.collect()
}

/// Returns true if clients pause for a fault of this name.
fn makes_pause(name: &str) -> bool {
    Fault::named(name).is_some_and(|fault| fault.entry().recovery == Recovery::Pause)
}
