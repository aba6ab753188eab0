//! The names of the leases of a sharded manager.

use std::collections::BTreeMap;

use crate::{entropy::fnv1a, shard::ShardField};

/// The label of all leases of a manager; its value is the manager's name.
const MANAGER: &str = "informer/sharded-manager";
/// The label that has the division into shards that the writer of a lease knows.
const DIVISION: &str = "informer/shards";

/// The name of a manager, and its division into shards.
#[derive(Clone, Debug)]
pub(super) struct LeaseNames {
    pub(super) manager: String,
    pub(super) shard_count: u32,
    pub(super) field: ShardField,
}

// === impl LeaseNames ===

impl LeaseNames {
    /// Returns the division, as in `8-by-uid`: copies with different ones must not work at the same time.
    pub(super) fn division(&self) -> String {
        format!("{}-by-{}", self.shard_count, self.field)
    }

    /// Returns the name of the lease of a shard.
    pub(super) fn of_shard(&self, index: u32) -> String {
        format!("{}-shard-{index}-of-{}", self.manager, self.division())
    }

    /// Returns the name of the lease of a member, whatever characters its identity has.
    pub(super) fn of_member(&self, identity: &str) -> String {
        format!("{}{:016x}", self.member_prefix(), fnv1a(identity))
    }

    /// Returns true if a lease is that of a member.
    pub(super) fn is_of_member(&self, name: &str) -> bool {
        name.starts_with(&self.member_prefix())
    }

    pub(super) fn labels(&self) -> BTreeMap<String, String> {
        let labels = [(MANAGER, self.manager.clone()), (DIVISION, self.division())];
        let labels = labels.into_iter();
        labels.map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// Returns the selector of all leases of the manager.
    pub(super) fn selector(&self) -> String {
        format!("{MANAGER}={}", self.manager)
    }

    /// Returns the division that the labels of a lease tell; empty if they do not.
    pub(super) fn division_of(labels: Option<&BTreeMap<String, String>>) -> String {
        let division = labels.and_then(|labels| labels.get(DIVISION));
        division.cloned().unwrap_or_default()
    }

    fn member_prefix(&self) -> String {
        format!("{}-member-", self.manager)
    }
}
