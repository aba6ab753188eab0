//! One error for what the functions of this crate fail with.

/// Any error of this crate, for functions that meet several kinds and pass them on with `?`.
///
/// Left out are [`UntilError`](crate::watch::UntilError), which holds an error of the caller, and ends that are no failures.
///
/// Each variant holds the error of one operation, whose documentation says whether to retry; it is shown as that error, and
/// [`source`](std::error::Error::source) is that of the error, too. Functions of this crate return the narrow types.
///
/// # Examples
///
/// ```
/// use informer::{LabelSelector, ObjectKey};
///
/// fn selector(text: &str) -> Result<LabelSelector, informer::Error> {
///     Ok(text.parse()?)
/// }
///
/// assert!(matches!(selector("a=(b"), Err(informer::Error::ParseSelector(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A cache that did not sync.
    #[error(transparent)]
    Sync(#[from] crate::SyncError),
    /// A handler that did not receive the initial state.
    #[error(transparent)]
    HandlerSync(#[from] crate::HandlerSyncError),
    /// A wait for a state of the cache.
    #[error(transparent)]
    Wait(#[from] crate::WaitError),
    /// A comparison of the cache with the server.
    #[error(transparent)]
    Consistency(#[from] crate::ConsistencyError),
    /// An index that cannot be added or removed.
    #[error(transparent)]
    EditIndex(#[from] crate::EditIndexError),
    /// A read of an index.
    #[error(transparent)]
    Indexer(#[from] crate::IndexerError),
    /// A read of a lister.
    #[error(transparent)]
    Lister(#[from] crate::ListerError),
    /// A count of an index that is not that of its objects.
    #[error(transparent)]
    Recount(#[from] crate::RecountError),
    /// A field of an object that cannot be read.
    #[error(transparent)]
    ReadField(#[from] crate::field_path::ReadFieldError),
    /// A selector that is not one.
    #[error(transparent)]
    ParseSelector(#[from] crate::ParseSelectorError),
    /// A path of fields that is not one.
    #[error(transparent)]
    ParseFieldPath(#[from] crate::field_path::ParseFieldPathError),
    /// An object that does not decode.
    #[error(transparent)]
    Decode(#[from] crate::DecodeError),
    /// A shard that does not exist.
    #[error(transparent)]
    NoSuchShard(#[from] crate::shard::NoSuchShard),
    /// A list or a watch.
    #[error(transparent)]
    ListWatch(#[from] crate::list_watch::ListWatchError),
    /// A watch that cannot be resumed.
    #[error(transparent)]
    RetryWatcher(#[from] crate::watch::RetryWatcherError),
    /// A name of a resource or a kind that is not one.
    #[cfg(feature = "discovery")]
    #[error(transparent)]
    ParseName(#[from] crate::discovery::ParseNameError),
    /// The discovery of what a server has.
    #[cfg(feature = "discovery")]
    #[error(transparent)]
    Discovery(#[from] crate::discovery::DiscoveryError),
    /// A mapping between kinds and resources.
    #[cfg(feature = "discovery")]
    #[error(transparent)]
    RestMapper(#[from] crate::rest_mapper::RestMapperError),
    /// Informers of a factory that did not sync.
    #[cfg(feature = "discovery")]
    #[error(transparent)]
    CacheSync(#[from] crate::factory::CacheSyncError),
    /// An election that cannot be held.
    #[cfg(feature = "leader-election")]
    #[error(transparent)]
    LeaderElection(#[from] crate::leader_election::LeaderElectionError),
    /// Events that were not written in time.
    #[cfg(feature = "controller")]
    #[error(transparent)]
    Flush(#[from] crate::events::FlushError),
    /// A manager that could not run to its end.
    #[cfg(feature = "controller")]
    #[error(transparent)]
    Manager(#[from] crate::manager::ManagerError),
    /// A sharded manager that cannot work.
    #[cfg(feature = "controller")]
    #[error(transparent)]
    ShardedManager(#[from] crate::sharded_manager::ShardedManagerError),
    /// Controllers that did not come to rest.
    #[cfg(feature = "controller")]
    #[error(transparent)]
    Settle(#[from] crate::manager::SettleError),
    /// A cache that does not show a write.
    #[cfg(feature = "controller")]
    #[error(transparent)]
    Gate(#[from] crate::controller::GateError),
    /// A kind that a controller does not follow.
    #[cfg(feature = "controller")]
    #[error(transparent)]
    UnknownKind(#[from] crate::controller::UnknownKind),
}
