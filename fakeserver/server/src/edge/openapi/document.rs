//! One document in its encoded forms.

use std::{fmt::Write, sync::OnceLock};

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha512};

use super::{definitions::Dialect, protobuf};

/// A document and its `ETag`.
#[derive(Debug)]
pub(crate) struct Document {
    json: Bytes,
    /// The digest of the document, in hexadecimal.
    hash: String,
    dialect: Dialect,
    /// Encoded on first use.
    protobuf: OnceLock<Bytes>,
}

// === impl Document ===

impl Document {
    pub(super) fn new(dialect: Dialect, document: &Value) -> Self {
        let json = Bytes::from(document.to_string());
        let hash = Sha512::digest(&json)
            .iter()
            .fold(String::new(), |mut hash, byte| {
                let _ = write!(hash, "{byte:02X}");
                hash
            });
        Self {
            json,
            hash,
            dialect,
            protobuf: OnceLock::new(),
        }
    }

    /// The document as JSON.
    pub(crate) fn json(&self) -> &Bytes {
        &self.json
    }

    /// The document in the messages of gnostic.
    pub(crate) fn protobuf(&self) -> &Bytes {
        self.protobuf.get_or_init(|| {
            let document: Value =
                serde_json::from_slice(&self.json).expect("it was written as JSON");
            protobuf::encode(self.dialect, &document).into()
        })
    }

    /// Equal for equal documents only.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }
}
