//! Why there can be no election. What goes wrong during one is tried again.

use std::time::Duration;

/// What a candidate cannot begin with. Trying again is useless until it is changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderElectionError {
    /// The identity is empty, which in a lease means that nobody holds it.
    #[error("a candidate needs an identity")]
    NoIdentity,
    /// The lease must last for longer than the renew deadline, and that for longer than 1.2 retry periods; the lease lasts
    /// for a second at least.
    #[error(
        "the lease of {lease_duration:?}, the renew deadline of {renew_deadline:?} and the retry period of {retry_period:?} do not go together"
    )]
    Durations {
        /// How long the lease was to last.
        lease_duration: Duration,
        /// How long a leader was to go on that cannot renew.
        renew_deadline: Duration,
        /// How long it was to wait between two attempts.
        retry_period: Duration,
    },
}
