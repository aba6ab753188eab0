//! A queue hands out each item when it is due: once for all its adds, by priority and then in order, never before its delay is
//! over, and at once if a worker waits.
//!
//! Retries wait for the item's exponential delay, which ends with a success. The queue tells its items as they are.

use super::{
    Finding,
    queue_model::{self, About},
};
use crate::trace::Trace;

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    queue_model::findings(trace, About::Items)
}
