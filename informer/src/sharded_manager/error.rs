//! Errors of sharded managers.

use crate::leader_election::LeaderElectionError;

/// Options with which a sharded manager cannot work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardedManagerError {
    /// There are no shards, or more than 1,000.
    #[error("{count} shards: there must be 1 to 1,000")]
    ShardCount {
        /// The number.
        count: u32,
    },
    /// The identity is empty, or the durations of the leases do not go together.
    #[error(transparent)]
    Election(#[from] LeaderElectionError),
}
