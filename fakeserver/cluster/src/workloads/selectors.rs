//! The selectors of a kind whose objects select pods, by which a change of a pod finds them.

use std::collections::BTreeMap;

use fakeserver_server::{controllers::index::ObjectChange, store::ObjectKey};
use fakeserver_value::object::selectors::LabelSelector;

use super::objects::ReconciledKind;

/// The selectors of all objects of a kind that have one.
#[derive(Debug, Default)]
pub(super) struct Selectors(BTreeMap<ObjectKey, LabelSelector>);

// === impl Selectors ===

impl Selectors {
    /// Sets the selector of an object; `None` if it selects nothing, or is gone.
    pub(super) fn set(&mut self, key: &ObjectKey, selector: Option<LabelSelector>) {
        match selector {
            Some(selects) => self.0.insert(key.clone(), selects),
            None => self.0.remove(key),
        };
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&LabelSelector> {
        self.0.get(key)
    }

    /// Returns the objects of `kind` that select a pod before or after a change.
    pub(super) fn selecting<'a>(
        &'a self,
        kind: &ReconciledKind,
        change: &'a ObjectChange<'_>,
    ) -> impl Iterator<Item = &'a ObjectKey> {
        let namespace = change.key().namespace();
        let near = self.0.range(kind.key(namespace, "")..);
        near.take_while(move |(key, _)| key.namespace() == namespace)
            .filter(|(_, selects)| {
                let mut sides = [&change.before, &change.after].into_iter().flatten();
                sides.any(|(pod, _)| selects.matches(pod.labels()))
            })
            .map(|(key, _)| key)
    }
}
