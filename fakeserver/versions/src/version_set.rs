//! A set of versions that threads share.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::KubernetesVersion;

/// The element for versions that this program does not have.
const UNKNOWN: u32 = 1 << 31;

/// Versions by which something was done, such as the objects of a store written. Adding and asking take an atomic operation.
#[derive(Debug, Default)]
pub struct SharedVersionSet(AtomicU32);

// === impl SharedVersionSet ===

impl SharedVersionSet {
    /// Adds a version.
    pub fn insert(&self, version: KubernetesVersion) {
        self.0.fetch_or(bit(version), Ordering::AcqRel);
    }

    /// Adds a version that this program does not have.
    pub fn insert_unknown(&self) {
        self.0.fetch_or(UNKNOWN, Ordering::AcqRel);
    }

    /// Removes all versions but this one, which is in it then.
    pub fn replace_with(&self, version: KubernetesVersion) {
        self.0.store(bit(version), Ordering::Release);
    }

    /// Returns whether it has no other version than this one.
    pub fn has_only(&self, version: KubernetesVersion) -> bool {
        self.0.load(Ordering::Acquire) & !bit(version) == 0
    }

    /// Returns its versions, from old to new, without those that this program does not have.
    pub fn iter(&self) -> impl Iterator<Item = KubernetesVersion> {
        let bits = self.0.load(Ordering::Acquire);
        KubernetesVersion::all().filter(move |version| bits & bit(*version) != 0)
    }
}

fn bit(version: KubernetesVersion) -> u32 {
    1 << version.index()
}
