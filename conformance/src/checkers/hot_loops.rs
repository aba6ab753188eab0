//! No loop runs without time passing.

use super::Finding;
use crate::trace::{Observation, Trace};

/// The recorder notices them during the run, which would not end
/// otherwise.
pub(crate) fn check(trace: &Trace) -> Vec<Finding> {
    let loops = trace
        .numbered()
        .filter_map(|(number, observation)| match observation {
            Observation::HotLoop { text } => Some(Finding::at(number, text.as_str())),
            _ => None,
        });
    loops.collect()
}
