//! The lock of the queue, which the private feature `_shuttle` exchanges for one that explores interleavings.

use std::sync::PoisonError;

#[cfg(feature = "_shuttle")]
pub(super) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(feature = "_shuttle"))]
pub(super) use std::sync::{Mutex, MutexGuard};

/// Takes the lock, also from one who panicked with it: what panics under it is a limiter or an item's own code, which
/// cannot leave a half-done change that matters to others.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
