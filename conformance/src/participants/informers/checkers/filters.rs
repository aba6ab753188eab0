//! A filter before a handler lets through exactly what it accepts.

use super::{Finding, differences};
use crate::trace::{Part, Trace};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    differences::of(trace, Part::Filter)
}
