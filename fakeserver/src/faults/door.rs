//! Where connections come in, and whether they are refused.

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// Longer than any outage; added to any instant it is one.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// The door of one server, at which all its listeners stand. Clones are handles of the same.
#[derive(Debug, Clone, Default)]
pub struct Door(Arc<Hinge>);

#[derive(Debug, Default)]
struct Hinge {
    closed_until: Mutex<Option<Instant>>,
    moved: Notify,
}

// === impl Door ===

impl Door {
    /// Lets nobody in for `time`: connections are refused, as where nobody listens. Those that are open go on.
    ///
    /// A door that is to be closed for longer stays so. In process there is no door.
    pub fn close_for(&self, time: Duration) {
        let until = Instant::now() + time.min(LONGEST);
        let mut closed_until = self.lock();
        *closed_until = (*closed_until).max(Some(until));
        drop(closed_until);
        self.0.moved.notify_waiters();
    }

    /// Opens it now.
    pub fn open(&self) {
        *self.lock() = None;
        self.0.moved.notify_waiters();
    }

    /// Whether connections are refused now.
    pub fn is_closed(&self) -> bool {
        self.lock().is_some_and(|until| until > Instant::now())
    }

    /// Waits until it is closed. Cancel safe.
    pub(crate) async fn closed(&self) {
        loop {
            let mut moved = pin!(self.0.moved.notified());
            moved.as_mut().enable();
            if self.is_closed() {
                return;
            }
            moved.await;
        }
    }

    /// Waits until it is open. Cancel safe.
    pub(crate) async fn opened(&self) {
        loop {
            let mut moved = pin!(self.0.moved.notified());
            moved.as_mut().enable();
            let until = *self.lock();
            let Some(until) = until.filter(|until| *until > Instant::now()) else {
                return;
            };
            tokio::select! {
                biased;
                () = moved => {}
                () = sleep_until(until) => {}
            }
        }
    }

    /// Nothing panics while it is held.
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        let closed_until = &self.0.closed_until;
        closed_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
