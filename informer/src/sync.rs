//! Locks, flags and cells that the private feature `_shuttle` exchanges for such that explore interleavings.

#[cfg(feature = "_shuttle")]
use std::sync::Arc;
use std::sync::PoisonError;

#[cfg(not(feature = "_shuttle"))]
pub(crate) use arc_swap::ArcSwap;

#[cfg(all(feature = "_shuttle", feature = "compact"))]
pub(crate) use shuttle::sync::atomic::AtomicUsize;
#[cfg(feature = "_shuttle")]
pub(crate) use shuttle::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
};
#[cfg(all(not(feature = "_shuttle"), feature = "compact"))]
pub(crate) use std::sync::atomic::AtomicUsize;
#[cfg(not(feature = "_shuttle"))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
};

/// The part of [`arc_swap::ArcSwap`] that is used here.
#[cfg(feature = "_shuttle")]
pub(crate) struct ArcSwap<T>(RwLock<Arc<T>>);

#[cfg(feature = "_shuttle")]
impl<T> ArcSwap<T> {
    pub(crate) fn from_pointee(value: T) -> Self {
        Self(RwLock::new(Arc::new(value)))
    }

    pub(crate) fn load(&self) -> Arc<T> {
        self.load_full()
    }

    pub(crate) fn load_full(&self) -> Arc<T> {
        Arc::clone(&read(&self.0))
    }

    pub(crate) fn store(&self, value: Arc<T>) {
        *write(&self.0) = value;
    }
}

/// Takes the lock, also from one who panicked with it: what panics under it is a limiter or an item's own code, which
/// cannot leave a half-done change that matters to others.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock for reading, also if it is poisoned: its value is only ever replaced as a whole.
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// The same for writing.
pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
