//! Decides by the rules that are stored.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Attributes, Decision, GROUP, Policy};
use crate::{
    authentication::UserInfo,
    storage::{GroupResource, Range, Snapshot, Storage},
};

/// The resources that say who may do what.
const RESOURCES: [&str; 4] = [
    "clusterroles",
    "clusterrolebindings",
    "roles",
    "rolebindings",
];

/// By which rules requests are allowed.
#[doc(alias = "authorization-mode")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Authorization {
    /// Everybody may do everything.
    #[default]
    AlwaysAllow,
    /// What the stored roles and bindings allow. The server begins with the roles of a real cluster: `cluster-admin`,
    /// `admin`, `edit`, `view`, and those that let everybody discover what is served.
    Rbac,
}

/// By which rules requests are allowed, with what was read of them last.
#[derive(Debug)]
pub(crate) struct Authorizer {
    mode: Authorization,
    read: Mutex<Option<Read>>,
}

/// The rules of one moment.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    All,
    Rules(Arc<Policy>),
}

#[derive(Debug)]
struct Read {
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

    /// The rules as they are now. The storage must not be locked by the caller.
    pub(crate) fn access(&self, storage: &Storage) -> Access {
        if self.mode == Authorization::AlwaysAllow {
            return Access::All;
        }
        let snapshots = storage.view(|view| {
            RESOURCES.map(|resource| view.snapshot(&GroupResource::new(GROUP, resource)))
        });
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = &*read {
            let mut pairs = read.snapshots.iter().zip(&snapshots);
            if pairs.all(|(read, now)| read.is_same(now)) {
                return Access::Rules(Arc::clone(&read.policy));
            }
        }
        let objects = RESOURCES.iter().zip(&snapshots);
        let objects = objects.flat_map(|(resource, snapshot)| {
            let objects = snapshot.objects(&Range::All, None);
            objects.map(move |object| (*resource, object.to_value()))
        });
        let policy = Arc::new(Policy::new(objects));
        *read = Some(Read {
            snapshots: snapshots.clone(),
            policy: Arc::clone(&policy),
        });
        Access::Rules(policy)
    }
}

// === impl Access ===

impl Access {
    /// Whether `user` may do what `attributes` say.
    pub(crate) fn decide(&self, user: &UserInfo, attributes: &Attributes) -> Decision {
        match self {
            Self::All => Decision::allow(),
            Self::Rules(policy) => policy.decide(user, attributes),
        }
    }
}
