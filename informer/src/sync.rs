//! Locks and flags that the private feature `_shuttle` exchanges for such that explore interleavings.

use std::sync::PoisonError;

#[cfg(feature = "_shuttle")]
pub(crate) use shuttle::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
};
#[cfg(not(feature = "_shuttle"))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
};

/// Takes the lock, also from one who panicked with it: what panics under it is a limiter or an item's own code, which
/// cannot leave a half-done change that matters to others.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
