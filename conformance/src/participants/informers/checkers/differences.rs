//! The differences that subjects find by themselves, since they can read their caches; see [`crate::participants::subjects`].

use super::Finding;
use crate::trace::{Observation, Part, Trace};

/// Finds the parts of a kind that differ from the cache.
pub(super) fn of(trace: &Trace, part: Part) -> Vec<Finding> {
    let differs = trace
        .numbered()
        .filter_map(|(number, observation)| match observation {
            Observation::Differs { part: of, .. } if *of == part => {
                Some(Finding::at(number, observation.to_string()))
            }
            _ => None,
        });
    differs.collect()
}
