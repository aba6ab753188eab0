//! Counts of requests.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::write::Target;

/// Counts requests, by resource and verb.
#[derive(Debug, Default)]
pub struct Tally(Mutex<BTreeMap<String, BTreeMap<String, u64>>>);

// === impl Tally ===

impl Tally {
    /// Counts a request for objects of `target`.
    pub(super) fn count(&self, target: &Target, verb: &str) {
        let resource = name_of(target);
        let mut counts = self.lock();
        // Most requests find their names there already.
        if !counts.contains_key(&resource) {
            counts.insert(resource.clone(), BTreeMap::new());
        }
        if let Some(verbs) = counts.get_mut(&resource) {
            match verbs.get_mut(verb) {
                Some(count) => *count += 1,
                None => {
                    verbs.insert(verb.to_owned(), 1);
                }
            }
        }
    }

    /// Returns the counts, by resource and verb.
    pub fn counts(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        self.lock().clone()
    }

    /// Resets all counts.
    pub fn reset(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<String, u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name under which requests for `target` are counted: `deployments.apps/status`.
fn name_of(target: &Target) -> String {
    let mut name = target.resource.plural.to_string();
    if !target.resource.group.is_empty() {
        name.push('.');
        name.push_str(&target.resource.group);
    }
    if let Some(subresource) = &target.path.subresource {
        name.push('/');
        name.push_str(subresource);
    }
    name
}
