//! What a stage reports: numbers that one task writes and anybody may read.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// A count that only grows. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

/// A number that goes up and down. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU64>);

// === impl Counter ===

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The count so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

// === impl Gauge ===

impl Gauge {
    /// Sets it to `value`.
    pub fn set(&self, value: usize) {
        self.0.store(value as u64, Ordering::Relaxed);
    }

    /// The last value that was set; zero before the first.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
