//! The webhooks that the stored configurations name.

use std::sync::{Arc, PoisonError, RwLock};

use super::Hooks;
use fakeserver_kinds::{
    Kind,
    admission::{mutating_webhook_configuration, validating_webhook_configuration},
};

use crate::store::{StoredObject, Transaction};

/// Webhooks, compiled when their configurations have changed.
#[derive(Debug, Default)]
pub struct HookCache {
    compiled: RwLock<Arc<CompiledWebhooks>>,
}

/// Webhooks, with the configurations that they were compiled from.
#[derive(Debug, Default)]
struct CompiledWebhooks {
    mutating: Vec<Arc<StoredObject>>,
    validating: Vec<Arc<StoredObject>>,
    hooks: Arc<Hooks>,
}

// === impl HookCache ===

impl HookCache {
    /// Returns the webhooks of the configurations that a transaction sees.
    pub fn current(&self, tx: &Transaction<'_>) -> Arc<Hooks> {
        let compiled = self.load();
        let list = |kind: &'static Kind| tx.list(kind.storage(), None);
        let (mutating, validating) = (
            list(&mutating_webhook_configuration::KIND),
            list(&validating_webhook_configuration::KIND),
        );
        if is_same(&compiled.mutating, &mutating) && is_same(&compiled.validating, &validating) {
            return Arc::clone(&compiled.hooks);
        }
        let values = |stored: &[Arc<StoredObject>]| -> Vec<_> {
            stored.iter().map(|object| object.to_value()).collect()
        };
        let hooks = Arc::new(Hooks::new(values(&mutating), values(&validating)));
        *self
            .compiled
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(CompiledWebhooks {
            mutating,
            validating,
            hooks: Arc::clone(&hooks),
        });
        hooks
    }

    /// Returns whether there were webhooks when a transaction last looked.
    pub fn has_some(&self) -> bool {
        !self.load().hooks.is_empty()
    }

    fn load(&self) -> Arc<CompiledWebhooks> {
        Arc::clone(&self.compiled.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns whether two lists hold the same versions of the same objects, and not only equal ones.
fn is_same(a: &[Arc<StoredObject>], b: &[Arc<StoredObject>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
}
