//! The error of a wait for events.

use std::time::Duration;

/// Events were not written in time. They are still being written: waiting again is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("events are still to be written after {limit:?}; {pending} are pending")]
#[non_exhaustive]
pub struct FlushError {
    /// The time limit of the wait.
    pub limit: Duration,
    /// The number of events that are neither written nor dropped now, also of those that were recorded since.
    pub pending: u64,
}
