//! Every index equals a recount of the cache.

use super::{Finding, differences};
use crate::trace::{Part, Trace};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    differences::of(trace, Part::Index)
}
