//! Pauses and resumes a running reflector.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use tokio::sync::Notify;

/// A handle that pauses and resumes a reflector. Clones control the same one; see
/// [`Reflector::with_control`](super::Reflector::with_control).
///
/// The last word counts, also one that was said before the reflector runs.
#[derive(Clone, Debug, Default)]
pub struct ReflectorControl(Arc<Shared>);

/// An order of a reflector's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Pause,
    Resume,
}

#[derive(Debug, Default)]
struct Shared {
    /// The order that was not taken yet, as one of the constants below.
    order: AtomicU8,
    /// Its only waiter is the reflector.
    given: Notify,
}

const NONE: u8 = 0;
const PAUSE: u8 = 1;
const RESUME: u8 = 2;

// === impl ReflectorControl ===

impl ReflectorControl {
    /// In control of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives up the request or the stream in flight, and makes no other until [`resume`](Self::resume). The store keeps what
    /// it holds.
    pub fn pause(&self) {
        self.give(PAUSE);
    }

    /// Ends a pause of any cause, or a wait before the next attempt: the reflector resumes at once.
    pub fn resume(&self) {
        self.give(RESUME);
    }

    /// The order that was given and not taken yet.
    pub(super) fn take(&self) -> Option<Order> {
        match self.0.order.swap(NONE, Ordering::AcqRel) {
            PAUSE => Some(Order::Pause),
            RESUME => Some(Order::Resume),
            _ => None,
        }
    }

    /// Waits for the next order.
    ///
    /// # Cancel safety
    ///
    /// An order that was not returned stays the next one.
    pub(super) async fn taken(&self) -> Order {
        loop {
            if let Some(order) = self.take() {
                return order;
            }
            self.0.given.notified().await;
        }
    }

    fn give(&self, order: u8) {
        self.0.order.store(order, Ordering::Release);
        self.0.given.notify_one();
    }
}
