//! After a shutdown a queue takes nothing new, and it stops once what it still hands out is done: neither before nor later.
//!
//! A drain and a plain shutdown hand out what is queued, a shutdown at once drops it, and an abort of the workers puts back what
//! they were working on.

use super::{
    Finding,
    queue_model::{self, About},
};
use crate::trace::Trace;

/// Finds violations of the [module](self)'s invariant.
pub fn check(trace: &Trace) -> Vec<Finding> {
    queue_model::findings(trace, About::Stop)
}
