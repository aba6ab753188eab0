//! The capacity of the queue.

/// The bounds of a queue.
#[doc(alias = "RealFIFOOptions")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeltaFifoOptions {
    /// The number of items that may wait; a replacement is one, however large. At least 1.
    pub capacity: usize,
    /// The most changes that are handed out at once. At least 1.
    pub batch_max: usize,
}

// === impl DeltaFifoOptions ===

impl Default for DeltaFifoOptions {
    /// client-go's bounds: 2,000 items, in batches of up to 1,000.
    fn default() -> Self {
        Self {
            capacity: 2_000,
            batch_max: 1_000,
        }
    }
}

impl DeltaFifoOptions {
    /// With room for `capacity` items.
    #[must_use]
    pub fn with_capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity.max(1);
        self
    }

    /// With at most `batch_max` changes handed out at once.
    #[must_use]
    pub fn with_batch_max(mut self, batch_max: usize) -> Self {
        self.batch_max = batch_max.max(1);
        self
    }
}
