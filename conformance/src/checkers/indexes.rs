//! Every index equals a recount of the cache.

use super::{Finding, differences};
use crate::trace::{Part, Trace};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    differences::of(trace, Part::Index)
}
