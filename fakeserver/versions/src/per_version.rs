//! Tables of versions, each made once in a process.

use std::sync::OnceLock;

use crate::{KubernetesVersion, release::COUNT};

/// A value for each version, made when it is needed first.
#[derive(Debug)]
pub struct PerVersion<T>([OnceLock<T>; COUNT as usize]);

// === impl PerVersion ===

impl<T> PerVersion<T> {
    /// Returns one that has no value yet.
    pub const fn new() -> Self {
        Self([const { OnceLock::new() }; COUNT as usize])
    }

    /// Returns the value of a version, which `make` returns the first time.
    pub fn get_or_init(&self, version: KubernetesVersion, make: impl FnOnce() -> T) -> &T {
        self.0[version.index()].get_or_init(make)
    }
}

impl<T> Default for PerVersion<T> {
    fn default() -> Self {
        Self::new()
    }
}
