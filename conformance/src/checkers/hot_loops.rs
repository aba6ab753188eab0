//! Nothing goes round without time passing.

use super::Finding;
use crate::{
    model::Model,
    trace::{Observation, Trace},
};

/// See the [module](self). The noticing is done while the run goes on, which such a loop would not let end.
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let loops = trace
        .numbered()
        .filter_map(|(number, observation)| match observation {
            Observation::HotLoop { text } => Some(Finding::at(number, text.as_str())),
            _ => None,
        });
    loops.collect()
}
