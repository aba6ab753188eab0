//! The counts of a server.

use std::collections::BTreeMap;

use serde::Serialize;

/// Counts of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Stats {
    /// The revision of the last write.
    pub revision: u64,
    /// The number of open watches.
    pub watchers: usize,
    /// The number of changes that the controllers have not processed yet.
    pub unseen_changes: usize,
    /// The number of requests, by resource (`deployments.apps`, `pods/status`) and verb.
    pub requests: BTreeMap<String, BTreeMap<String, u64>>,
    /// The number of requests that the log no longer has.
    pub requests_forgotten: u64,
}
