//! The gate of a server's listeners: closed, they refuse connections.

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// The longest closure. Longer than any outage, and it can be added to any instant.
const CLOSURE_MAX: Duration = Duration::from_hours(24 * 365);

/// The gate that all listeners of one server share. Clones are handles of the same gate.
#[derive(Debug, Clone, Default)]
pub struct ListenGate(Arc<GateState>);

#[derive(Debug, Default)]
struct GateState {
    closed_until: Mutex<Option<Instant>>,
    changed: Notify,
}

// === impl ListenGate ===

impl ListenGate {
    /// Refuses new connections for `time`, as if no process listened. Open connections stay open.
    ///
    /// A gate that is already closed for longer stays closed. In process there are no listeners, so the gate has no
    /// effect.
    pub fn close_for(&self, time: Duration) {
        let until = Instant::now() + time.min(CLOSURE_MAX);
        let mut closed_until = self.lock();
        *closed_until = (*closed_until).max(Some(until));
        drop(closed_until);
        self.0.changed.notify_waiters();
    }

    /// Opens the gate at once.
    pub fn open(&self) {
        *self.lock() = None;
        self.0.changed.notify_waiters();
    }

    /// Returns whether connections are refused at present.
    pub fn is_closed(&self) -> bool {
        self.lock().is_some_and(|until| until > Instant::now())
    }

    /// Waits until the gate is closed. Cancel safe.
    pub(crate) async fn closed(&self) {
        loop {
            let mut changed = pin!(self.0.changed.notified());
            changed.as_mut().enable();
            if self.is_closed() {
                return;
            }
            changed.await;
        }
    }

    /// Waits until the gate is open. Cancel safe.
    pub(crate) async fn opened(&self) {
        loop {
            let mut changed = pin!(self.0.changed.notified());
            changed.as_mut().enable();
            let until = *self.lock();
            let Some(until) = until.filter(|until| *until > Instant::now()) else {
                return;
            };
            tokio::select! {
                biased;
                () = changed => {}
                () = sleep_until(until) => {}
            }
        }
    }

    /// Locks the state. No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        let closed_until = &self.0.closed_until;
        closed_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
