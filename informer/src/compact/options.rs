//! Options of a compact store.

/// The objects that a compact store keeps uncompressed, for speed. One for each
/// [`HttpListWatch`](crate::http::HttpListWatch).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactOptions {
    /// The size of the young area, in bytes of JSON: the newest versions are held there uncompressed. 1 MiB.
    pub young_size_max_bytes: usize,
    /// The number of most recently read objects that stay decoded. 64.
    pub hot_objects_max: usize,
    /// zstd's level. 3, as is its own default; 1 is faster, above 9 it becomes slow for little gain.
    pub compression_level: i32,
}

// === impl CompactOptions ===

impl CompactOptions {
    /// With a young area of this size.
    #[must_use]
    pub fn with_young_size_max_bytes(mut self, bytes: usize) -> Self {
        self.young_size_max_bytes = bytes;
        self
    }

    /// Keeps the `count` most recently read objects decoded.
    #[must_use]
    pub fn with_hot_objects_max(mut self, count: usize) -> Self {
        self.hot_objects_max = count;
        self
    }

    /// Compresses at this level.
    #[must_use]
    pub fn with_compression_level(mut self, level: i32) -> Self {
        self.compression_level = level;
        self
    }
}

impl Default for CompactOptions {
    fn default() -> Self {
        Self {
            young_size_max_bytes: 1 << 20,
            hot_objects_max: 64,
            compression_level: 3,
        }
    }
}
