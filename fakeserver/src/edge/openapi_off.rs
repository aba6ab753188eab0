//! OpenAPI documents, compiled out.

use std::sync::Arc;

use axum::response::Response;
use http::HeaderMap;

use crate::{
    clock::Clock,
    edge::request::{OpenApiPath, Query},
    kinds::registry::Registry,
};

/// The documents of one state of the registry: none.
#[derive(Debug, Default)]
pub(crate) struct Documents;

/// The documents of the state that was asked for last.
#[derive(Debug, Default)]
pub(crate) struct DocumentsCache;

/// Answers nothing.
pub(crate) fn serve(
    _: &Documents,
    _: &Clock,
    _: &OpenApiPath,
    _: &Query,
    _: &HeaderMap,
) -> Option<Response> {
    None
}

// === impl DocumentsCache ===

impl DocumentsCache {
    /// Returns no documents.
    pub(crate) fn of(&self, _: Arc<Registry>) -> Arc<Documents> {
        Arc::default()
    }
}
