//! Errors of a lister.

use std::sync::Arc;

use crate::indexer::IndexerError;

/// A lister has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListerError {
    /// There is no such object in the cache.
    #[error("{resource} {:?} not found{}", .name, in_namespace(.namespace))]
    NotFound {
        /// The resource.
        resource: Arc<str>,
        /// The namespace; empty for cluster-scoped objects.
        namespace: Arc<str>,
        /// The name.
        name: Arc<str>,
    },
    /// The informer was never started, so that its cache is empty, even if the server has objects. Start it, and wait
    /// for its sync.
    #[error("the informer of {resource} was never started")]
    NotStarted {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
    },
    /// There is no such index.
    #[error(transparent)]
    Index(#[from] IndexerError),
}

// === impl ListerError ===

impl ListerError {
    /// Returns whether the object does not exist: the same predicate as of an API server's answer.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}

fn in_namespace(namespace: &str) -> String {
    if namespace.is_empty() {
        return String::new();
    }
    format!(" in namespace {namespace:?}")
}
