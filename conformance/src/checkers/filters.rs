//! A filter before a handler lets through exactly what it accepts.

use super::{Finding, differences};
use crate::trace::{Part, Trace};

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    differences::of(trace, Part::Filter)
}
