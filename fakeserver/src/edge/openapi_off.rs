//! OpenAPI documents, compiled out.

use std::{marker::PhantomData, sync::Arc};

use axum::response::Response;
use http::HeaderMap;
use serde_json::Value;

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

/// The documents of this server and of others: none.
#[derive(Debug)]
pub(crate) struct Merged<'a>(PhantomData<&'a Documents>);

/// The part of a document that is about one API: nothing.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RemoteSpec;

/// Answers nothing.
pub(crate) fn serve(
    _: &Merged<'_>,
    _: &Clock,
    _: &OpenApiPath,
    _: &Query,
    _: &HeaderMap,
) -> Option<Response> {
    None
}

/// Returns nothing.
pub(crate) fn index_entry(_: &Value, _: &str) -> Option<Value> {
    None
}

// === impl Merged ===

impl<'a> Merged<'a> {
    /// Creates nothing.
    pub(crate) fn new(
        _: &'a DocumentsCache,
        _: &'a Arc<Documents>,
        _: Vec<(String, Value)>,
        _: Vec<Arc<RemoteSpec>>,
    ) -> Self {
        Self(PhantomData)
    }
}

// === impl RemoteSpec ===

impl RemoteSpec {
    /// Returns nothing of a document.
    pub(crate) fn of(_: &Value, _: &str) -> Self {
        Self
    }
}

// === impl DocumentsCache ===

impl DocumentsCache {
    /// Returns no documents.
    pub(crate) fn of(&self, _: Arc<Registry>) -> Arc<Documents> {
        Arc::default()
    }
}
