//! The webhooks that configurations in the store ask for.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::{
    admission::{Hooks, MUTATING, VALIDATING},
    storage::{GroupResource, StoredObject, Transaction},
};

/// Webhooks, compiled when their configurations have changed.
#[derive(Debug, Default)]
pub(crate) struct HookCache {
    compiled: ArcSwap<Compiled>,
}

/// What is made of configurations, and of which.
#[derive(Debug, Default)]
struct Compiled {
    mutating: Vec<Arc<StoredObject>>,
    validating: Vec<Arc<StoredObject>>,
    hooks: Arc<Hooks>,
}

// === impl HookCache ===

impl HookCache {
    /// The webhooks of the configurations that a transaction sees.
    pub(crate) fn current(&self, tx: &Transaction<'_>) -> Arc<Hooks> {
        let compiled = self.compiled.load();
        let list = |(group, plural)| tx.list(&GroupResource::new(group, plural), None);
        let (mutating, validating) = (list(MUTATING), list(VALIDATING));
        if is_same(&compiled.mutating, &mutating) && is_same(&compiled.validating, &validating) {
            return Arc::clone(&compiled.hooks);
        }
        let values = |stored: &[Arc<StoredObject>]| -> Vec<_> {
            stored.iter().map(|object| object.to_value()).collect()
        };
        let hooks = Arc::new(Hooks::new(values(&mutating), values(&validating)));
        self.compiled.store(Arc::new(Compiled {
            mutating,
            validating,
            hooks: Arc::clone(&hooks),
        }));
        hooks
    }
}

/// Whether two lists are of the same versions of the same objects, and not only of equal ones.
fn is_same(a: &[Arc<StoredObject>], b: &[Arc<StoredObject>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
}
