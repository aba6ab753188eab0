//! Decisions by the stored rules.

use std::sync::{Arc, Mutex, PoisonError};

use fakeserver_kinds::{
    Kind,
    rbac::{
        self,
        policy::{Access, Policy},
    },
};

use crate::store::{Range, Snapshot, Storage};

/// The kinds of the objects that a policy is read from.
const KINDS: [&Kind; 4] = [
    &rbac::cluster_role::KIND,
    &rbac::cluster_role_binding::KIND,
    &rbac::role::KIND,
    &rbac::role_binding::KIND,
];

/// By which rules requests are allowed.
#[doc(alias = "authorization-mode")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Authorization {
    /// Every request is allowed.
    #[default]
    AlwaysAllow,
    /// The stored roles and bindings decide. The server begins with the roles of a real cluster: `cluster-admin`,
    /// `admin`, `edit`, `view`, and those of discovery.
    Rbac,
}

/// By which rules requests are allowed, with what was read of them last.
#[derive(Debug)]
pub(crate) struct Authorizer {
    mode: Authorization,
    read: Mutex<Option<CachedPolicy>>,
}

#[derive(Debug)]
struct CachedPolicy {
    snapshots: [Snapshot; 4],
    policy: Arc<Policy>,
}

// === impl Authorizer ===

impl Authorizer {
    pub(crate) fn new(mode: Authorization) -> Self {
        Self {
            mode,
            read: Mutex::new(None),
        }
    }

    pub(crate) fn mode(&self) -> Authorization {
        self.mode
    }

    /// Returns the current policy. The caller must not hold the storage's lock.
    pub(crate) fn access(&self, storage: &Storage) -> Access {
        if self.mode == Authorization::AlwaysAllow {
            return Access::All;
        }
        // All four kinds in one view: a role and its binding from different revisions could grant what never was.
        let snapshots = storage.view(|view| KINDS.map(|kind| view.snapshot(kind.storage())));
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = &*read {
            let mut pairs = read.snapshots.iter().zip(&snapshots);
            // By identity of the maps: a comparison per request that does not depend on the number of roles.
            if pairs.all(|(read, now)| read.is_same(now)) {
                return Access::Rules(Arc::clone(&read.policy));
            }
        }
        let objects = KINDS.into_iter().zip(&snapshots);
        let objects = objects.flat_map(|(kind, snapshot)| {
            let objects = snapshot.objects(&Range::All, None);
            objects.map(move |object| (kind, object.to_value()))
        });
        let policy = Arc::new(Policy::new(objects));
        *read = Some(CachedPolicy {
            snapshots: snapshots.clone(),
            policy: Arc::clone(&policy),
        });
        Access::Rules(policy)
    }
}
