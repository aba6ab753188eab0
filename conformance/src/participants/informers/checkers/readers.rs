//! Every reader of a cache finds what a scan of its objects finds.

use super::{Finding, differences};
use crate::trace::{Part, Trace};

pub(super) fn check(trace: &Trace) -> Vec<Finding> {
    differences::of(trace, Part::Reader)
}
