//! Compact objects without an informer, for tests of what threads do with them.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{Compact, CompactOptions, Packer};
use crate::{
    encoding::Syntax,
    object::{Metadata, Object},
};

/// Takes objects as JSON, and packs them when they are old.
#[derive(Debug)]
pub struct CompactStore<K>(Arc<Packer<K>>);

// === impl CompactStore ===

impl<K: DeserializeOwned + Send + Sync + 'static> CompactStore<K> {
    /// Creates an empty store.
    pub fn new(options: CompactOptions) -> Self {
        let packer = Packer::new(options, false, |json, _| serde_json::from_slice(json));
        Self(Arc::new(packer))
    }

    /// Takes an object of these metadata.
    pub fn put(&self, metadata: Metadata, json: &str) -> Object<Compact<K>> {
        Object::from_parts(
            metadata,
            self.0.put(json.as_bytes(), Syntax::Json { has_type: true }),
        )
    }
}
