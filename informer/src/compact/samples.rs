//! The pure core of learning: which objects to learn from, and when there are enough.

use std::mem;

/// The number of objects that a dictionary is trained on.
pub(super) const SAMPLES: usize = 128;
/// As much of an object is looked at.
const SAMPLE_SIZE_MAX_BYTES: usize = 32 << 10;
/// By how much rarer samples become after each training.
const RARER: u64 = 64;

/// Objects to learn from: the first of all, then one out of 64, then one out of 4,096, and so on. A list comes in order of
/// its keys, so that the first objects are more alike than all are.
///
/// # Memory
///
/// At most 128 samples of 32 KiB.
pub(super) struct Samples {
    taken: Vec<Box<[u8]>>,
    seen: u64,
    every: u64,
}

// === impl Samples ===

impl Samples {
    pub(super) fn new() -> Self {
        Self {
            taken: Vec::new(),
            seen: 0,
            every: 1,
        }
    }

    /// Looks at an object that arrived; gives what is to be learnt from, when there is enough of it.
    pub(super) fn offer(&mut self, bytes: &[u8]) -> Option<Vec<Box<[u8]>>> {
        self.seen += 1;
        if !self.seen.is_multiple_of(self.every) {
            return None;
        }
        self.taken
            .push(bytes[..bytes.len().min(SAMPLE_SIZE_MAX_BYTES)].into());
        if self.taken.len() < SAMPLES {
            return None;
        }
        self.seen = 0;
        self.every = self.every.saturating_mul(RARER);
        Some(mem::take(&mut self.taken))
    }

    /// Returns the samples since the last training.
    pub(super) fn taken(&self) -> &[Box<[u8]>] {
        &self.taken
    }
}
