//! One document, as it goes out.

use std::fmt::Write;

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha512};

/// A document and what tells it from others.
#[derive(Debug)]
pub(crate) struct Document {
    json: Bytes,
    /// The digest of the document, in hexadecimal.
    hash: String,
}

// === impl Document ===

impl Document {
    pub(super) fn new(document: &Value) -> Self {
        let json = Bytes::from(document.to_string());
        let hash = Sha512::digest(&json)
            .iter()
            .fold(String::new(), |mut hash, byte| {
                let _ = write!(hash, "{byte:02X}");
                hash
            });
        Self { json, hash }
    }

    /// The document as JSON.
    pub(crate) fn json(&self) -> &Bytes {
        &self.json
    }

    /// Equal for equal documents only.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }
}
