//! Reads an informer's cache by name, namespace and label selector.

mod error;
mod selector;
mod parse;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use crate::{indexer::Indexer, latch::Latch, object::Object};

pub use self::{error::ListerError, parse::ParseSelectorError, selector::LabelSelector};

/// Reads a cache, all namespaces of it. Cheap to clone; reading never waits.
///
/// A lister does not keep its informer running: after the end it shows what was held last.
pub struct Lister<K> {
    indexer: Indexer<K>,
    resource: Arc<str>,
    /// Set once the informer was started.
    started: Latch,
}

/// Reads one namespace of a cache.
pub struct NamespacedLister<K> {
    lister: Lister<K>,
    namespace: Arc<str>,
}

// === impl Lister ===

impl<K> Lister<K> {
    pub(crate) fn new(indexer: Indexer<K>, resource: Arc<str>, started: Latch) -> Self {
        Self {
            indexer,
            resource,
            started,
        }
    }

    /// The objects that `selector` selects, in order of their keys, as of one moment.
    ///
    /// # Errors
    ///
    /// The informer was never started. Before it is synced, the answer is what has arrived: none or all of the first state.
    pub fn list(&self, selector: &LabelSelector) -> Result<Vec<Object<K>>, ListerError> {
        self.check_started()?;
        Ok(select(self.indexer.snapshot().iter(), selector))
    }

    /// The cluster-scoped object `name`; for others, see [`namespaced`](Self::namespaced).
    ///
    /// # Errors
    ///
    /// There is none in the cache, or the informer was never started.
    pub fn get(&self, name: &str) -> Result<Object<K>, ListerError> {
        self.get_in("", name)
    }

    /// The objects that the index `index_name` finds under `indexed_value`, in order of their keys.
    ///
    /// # Errors
    ///
    /// There is no such index, or the informer was never started.
    pub fn by_index(
        &self,
        index_name: &str,
        indexed_value: &str,
    ) -> Result<Vec<Object<K>>, ListerError> {
        self.check_started()?;
        Ok(self.indexer.by_index(index_name, indexed_value)?)
    }

    /// Reads one namespace; the empty one for cluster-scoped objects.
    pub fn namespaced(&self, namespace: impl Into<Arc<str>>) -> NamespacedLister<K> {
        NamespacedLister {
            lister: self.clone(),
            namespace: namespace.into(),
        }
    }

    fn get_in(&self, namespace: &str, name: &str) -> Result<Object<K>, ListerError> {
        self.check_started()?;
        let found = self.indexer.get_by_name(namespace, name);
        found.ok_or_else(|| ListerError::NotFound {
            resource: Arc::clone(&self.resource),
            namespace: namespace.into(),
            name: name.into(),
        })
    }

    fn check_started(&self) -> Result<(), ListerError> {
        if self.started.is_set() {
            return Ok(());
        }
        let resource = Arc::clone(&self.resource);
        Err(ListerError::NotStarted { resource })
    }
}

impl<K> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Self {
            indexer: self.indexer.clone(),
            resource: Arc::clone(&self.resource),
            started: self.started.clone(),
        }
    }
}

impl<K> fmt::Debug for Lister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lister").field(&self.resource).finish()
    }
}

// === impl NamespacedLister ===

impl<K> NamespacedLister<K> {
    /// The objects of the namespace that `selector` selects, in order of their names, as of one moment.
    ///
    /// # Errors
    ///
    /// The informer was never started.
    pub fn list(&self, selector: &LabelSelector) -> Result<Vec<Object<K>>, ListerError> {
        self.lister.check_started()?;
        let snapshot = self.lister.indexer.snapshot();
        Ok(select(snapshot.namespace(&self.namespace), selector))
    }

    /// The object `name`.
    ///
    /// # Errors
    ///
    /// There is none in the cache, or the informer was never started.
    pub fn get(&self, name: &str) -> Result<Object<K>, ListerError> {
        self.lister.get_in(&self.namespace, name)
    }
}

impl<K> Clone for NamespacedLister<K> {
    fn clone(&self) -> Self {
        Self {
            lister: self.lister.clone(),
            namespace: Arc::clone(&self.namespace),
        }
    }
}

impl<K> fmt::Debug for NamespacedLister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamespacedLister")
            .field(&self.lister.resource)
            .field(&self.namespace)
            .finish()
    }
}

fn select<'a, K: 'a>(
    objects: impl Iterator<Item = &'a Object<K>>,
    selector: &LabelSelector,
) -> Vec<Object<K>> {
    let selected = objects.filter(|object| selector.matches(object.labels()));
    selected.cloned().collect()
}
