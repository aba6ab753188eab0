//! Errors that prevent an election. Failures during an election are retried.

use std::time::Duration;

/// An invalid configuration of a candidate. Retrying is useless until it is changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderElectionError {
    /// The identity is empty, which in a lease means that it has no holder.
    #[error("a candidate needs an identity")]
    NoIdentity,
    /// The version of a lease candidate is empty.
    #[error("a lease candidate needs the version of its binary, as in 1.2.0")]
    NoVersion,
    /// The lease must last for longer than the renew deadline, and that for longer than 1.2 retry periods; the lease lasts
    /// for a second at least.
    #[error(
        "the lease of {lease_duration:?}, the renew deadline of {renew_deadline:?} and the retry period of {retry_period:?} do not go together"
    )]
    Durations {
        /// The configured duration of the lease.
        lease_duration: Duration,
        /// The configured time for which a leader that cannot renew stays one.
        renew_deadline: Duration,
        /// The configured pause between two attempts.
        retry_period: Duration,
    },
}
