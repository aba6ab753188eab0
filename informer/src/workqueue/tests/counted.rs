//! A future that is polled by hand, and counts how often it was woken.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

pub(super) struct WakeCounter<F> {
    future: Pin<Box<F>>,
    wakes: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicUsize);

// === impl WakeCounter ===

impl<F: Future> WakeCounter<F> {
    pub(super) fn new(future: F) -> Self {
        Self {
            future: Box::pin(future),
            wakes: Arc::default(),
        }
    }

    pub(super) fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Panics if it is not ready.
    pub(super) fn poll_ready(&mut self) -> F::Output {
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("not ready"),
        }
    }

    pub(super) fn wakes_count(&self) -> usize {
        self.wakes.0.load(Ordering::Relaxed)
    }
}

// === impl Wakes ===

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
