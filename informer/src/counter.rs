//! Cells for metrics: numbers that one task writes and others may read.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// A count that only grows. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

/// A number that goes up and down. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Arc<AtomicU64>);

// === impl Counter ===

impl Counter {
    /// Adds one.
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The count so far.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

// === impl Gauge ===

impl Gauge {
    /// Sets it to `value`.
    pub(crate) fn set(&self, value: usize) {
        self.0.store(value as u64, Ordering::Relaxed);
    }

    /// The last value that was set; zero before the first.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
