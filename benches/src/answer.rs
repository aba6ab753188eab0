//! The contents of a cache as a digest: equal caches give equal digests.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The keys of a cache with their versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The number of objects.
    pub(crate) objects: u64,
    /// Of all keys and versions in order.
    digest: String,
}

// === impl Answer ===

impl Answer {
    /// Of `objects`: the key and the version of each.
    pub(crate) fn of(objects: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut objects: Vec<_> = objects.into_iter().collect();
        objects.sort_unstable();
        let mut hasher = Sha256::new();
        for (key, version) in &objects {
            hasher.update(key);
            hasher.update("@");
            hasher.update(version);
            hasher.update("\n");
        }
        let mut digest = String::new();
        for byte in hasher.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(digest, "{byte:02x}");
        }
        Self {
            objects: objects.len() as u64,
            digest,
        }
    }
}
