//! The shards that a copy owns, for others to look at.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The shards that a [`ShardedManager`](super::ShardedManager) owns, and the copies that it sees. A clone shows the same.
#[derive(Clone, Debug, Default)]
pub struct Ownership(Arc<Mutex<OwnershipState>>);

#[derive(Debug, Default)]
struct OwnershipState {
    shards: BTreeSet<u32>,
    members: BTreeSet<Arc<str>>,
}

// === impl Ownership ===

impl Ownership {
    /// Returns the shards whose objects are reconciled by this copy.
    pub fn shards(&self) -> BTreeSet<u32> {
        self.lock().shards.clone()
    }

    /// Returns the identities of the copies that share the work, as this one sees them; nothing before it has looked.
    pub fn members(&self) -> BTreeSet<Arc<str>> {
        self.lock().members.clone()
    }

    pub(super) fn set_members(&self, members: &BTreeSet<Arc<str>>) {
        self.lock().members.clone_from(members);
    }

    pub(super) fn begin(&self, shard: u32) {
        self.lock().shards.insert(shard);
    }

    pub(super) fn end(&self, shard: u32) {
        self.lock().shards.remove(&shard);
    }

    fn lock(&self) -> MutexGuard<'_, OwnershipState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
