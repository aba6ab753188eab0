//! Every index equals a recount of what the cache holds.

use super::Finding;
use crate::{
    model::Model,
    trace::{Observation, Trace},
};

/// See the [module](self). The comparing is done where the cache can be read; see [`crate::subjects`].
pub fn check(trace: &Trace, _model: &Model) -> Vec<Finding> {
    let differs = trace
        .numbered()
        .filter_map(|(number, observation)| match observation {
            differs @ Observation::IndexDiffers { .. } => {
                Some(Finding::at(number, differs.to_string()))
            }
            _ => None,
        });
    differs.collect()
}
