//! The counts of a server.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

/// Counts of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
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

/// Counts requests.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<BTreeMap<String, BTreeMap<String, u64>>>);

// === impl Tally ===

impl Tally {
    pub(crate) fn count(&self, resource: &str, verb: &str) {
        let mut counts = self.lock();
        // Most requests find their names there already.
        if !counts.contains_key(resource) {
            counts.insert(resource.to_owned(), BTreeMap::new());
        }
        if let Some(verbs) = counts.get_mut(resource) {
            match verbs.get_mut(verb) {
                Some(count) => *count += 1,
                None => {
                    verbs.insert(verb.to_owned(), 1);
                }
            }
        }
    }

    pub(super) fn counts(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        self.lock().clone()
    }

    pub(super) fn reset(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<String, u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
