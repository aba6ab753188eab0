//! OpenAPI documents without the feature `openapi`: none.

use std::sync::Arc;

use crate::kinds::registry::Registry;

/// The documents of one state of the registry: none.
#[derive(Debug, Default)]
pub(crate) struct Documents;

/// The documents of the state that was asked for last.
#[derive(Debug, Default)]
pub(crate) struct DocumentsCache;

// === impl DocumentsCache ===

impl DocumentsCache {
    /// Returns no documents.
    pub(crate) fn of(&self, _: Arc<Registry>) -> Arc<Documents> {
        Arc::default()
    }
}
