//! Every index equals a recount of the cache.

use super::Finding;
use crate::trace::{Observation, Trace};

/// Finds violations of the [module](self)'s invariant. The subject compares them, since it can read the cache; see
/// [`crate::subjects`].
pub fn check(trace: &Trace) -> Vec<Finding> {
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
