//! Shared values, each kept once in the process.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

/// The number of values at which a pool is swept for the first time.
const SWEPT_MIN: usize = 1_024;

/// Shares equal values.
///
/// # Memory
///
/// The values that are held, and at most as many again that are not held any more.
pub struct Pool<T>(Mutex<Values<T>>);

struct Values<T> {
    entries: BTreeSet<Arc<T>>,
    /// The number of values at which those that are not held any more go.
    swept_at: usize,
}

// === impl Pool ===

impl<T: Ord> Pool<T> {
    pub const fn new() -> Self {
        Self(Mutex::new(Values {
            entries: BTreeSet::new(),
            swept_at: SWEPT_MIN,
        }))
    }

    /// Returns the pooled value that equals `value`, and adds `value` to the pool if there is none.
    pub fn share(&self, value: T) -> Arc<T> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pooled) = values.entries.get(&value) {
            return Arc::clone(pooled);
        }
        if values.entries.len() >= values.swept_at {
            values.entries.retain(|value| Arc::strong_count(value) > 1);
            values.swept_at = SWEPT_MIN.max(2 * values.entries.len());
        }
        let value = Arc::new(value);
        values.entries.insert(Arc::clone(&value));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_shared_while_they_are_held() {
        let pool = Pool::new();
        let kept = pool.share(0);
        for value in 1..=10 * SWEPT_MIN {
            pool.share(value);
        }
        assert!(Arc::ptr_eq(&kept, &pool.share(0)));
        let values = pool.0.into_inner().unwrap();
        assert!(values.entries.len() <= SWEPT_MIN, "the others are gone");
    }
}
