//! Reads the caches of several namespaces as one.

use std::{fmt, sync::Arc};

use super::OutOfScope;
use crate::{
    http::Scope,
    lister::{LabelSelector, Lister, ListerError, NamespacedLister},
    object::Object,
};

/// Reads the caches of a [`ScopedInformer`](super::ScopedInformer) as one. It does not keep their informers running.
pub struct ScopedLister<K> {
    resource: Arc<str>,
    /// In order of the scopes.
    listers: Vec<(Scope, Lister<K>)>,
}

// === impl ScopedLister ===

impl<K> ScopedLister<K> {
    pub(super) fn new(resource: Arc<str>, listers: Vec<(Scope, Lister<K>)>) -> Self {
        Self { resource, listers }
    }

    /// The objects that `selector` selects, in order of their keys.
    ///
    /// Each namespace as of one moment; where several are watched, not all as of the same.
    ///
    /// # Errors
    ///
    /// An informer was never started.
    pub fn list(&self, selector: &LabelSelector) -> Result<Vec<Object<K>>, ListerError> {
        let mut objects = Vec::new();
        for (_, lister) in &self.listers {
            objects.append(&mut lister.list(selector)?);
        }
        Ok(objects)
    }

    /// The cluster-scoped object `name`; for others, see [`namespaced`](Self::namespaced).
    ///
    /// # Errors
    ///
    /// There is none in the cache, or the informer was never started.
    pub fn get(&self, name: &str) -> Result<Object<K>, ListerError> {
        match self.listers.first() {
            Some((_, lister)) => lister.get(name),
            None => Err(ListerError::NotFound {
                resource: Arc::clone(&self.resource),
                namespace: "".into(),
                name: name.into(),
            }),
        }
    }

    /// The objects that the index `index_name` finds under `indexed_value`, in order of their keys.
    ///
    /// # Errors
    ///
    /// There is no such index, or an informer was never started.
    pub fn by_index(
        &self,
        index_name: &str,
        indexed_value: &str,
    ) -> Result<Vec<Object<K>>, ListerError> {
        let mut objects = Vec::new();
        for (_, lister) in &self.listers {
            objects.append(&mut lister.by_index(index_name, indexed_value)?);
        }
        Ok(objects)
    }

    /// Reads one namespace.
    ///
    /// # Errors
    ///
    /// The namespace is not watched, so that nothing is known of its objects.
    pub fn namespaced(&self, namespace: &str) -> Result<NamespacedLister<K>, OutOfScope> {
        let is_watched = |scope: &Scope| match scope {
            Scope::All => true,
            Scope::Namespace(own) => own == namespace,
        };
        let found = self.listers.iter().find(|(scope, _)| is_watched(scope));
        let (_, lister) = found.ok_or_else(|| OutOfScope {
            resource: Arc::clone(&self.resource),
            namespace: namespace.into(),
        })?;
        Ok(lister.namespaced(namespace))
    }
}

impl<K> Clone for ScopedLister<K> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.resource), self.listers.clone())
    }
}

impl<K> fmt::Debug for ScopedLister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedLister")
            .field("listers", &self.listers)
            .finish_non_exhaustive()
    }
}
