//! The promises of the queue, by sentence.

mod counted;
mod delaying;
mod drain;
mod enqueue;
mod getters;
mod metrics;
mod model;
mod parallelize;
mod priority;
mod queue;
mod rate_limited;
mod workers;

use std::{future::Future, pin::pin, task::Poll, time::Duration};

use super::{WorkItem, WorkQueue};

const MS: fn(u64) -> Duration = Duration::from_millis;
const S: fn(u64) -> Duration = Duration::from_secs;

/// Returns the output of `future` if it is ready at once.
fn now_or_never<F: Future>(future: F) -> Option<F::Output> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    // Without tokio's cooperative budget, a test can take many items in one poll.
    match pin!(tokio::task::coop::unconstrained(future)).poll(&mut cx) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The item that is ready now. Panics if none is.
fn next<T: Ord + Clone>(queue: &WorkQueue<T>) -> WorkItem<T> {
    now_or_never(queue.get())
        .expect("an item is ready")
        .expect("the queue is open")
}

/// Nothing is ready, and the queue is open.
fn is_idle<T: Ord + Clone>(queue: &WorkQueue<T>) -> bool {
    now_or_never(queue.get()).is_none()
}

/// The queue said that it is over.
fn is_over<T: Ord + Clone>(queue: &WorkQueue<T>) -> bool {
    matches!(now_or_never(queue.get()), Some(None))
}

/// Works off what is ready now, and gives it in order.
fn work_off<T: Ord + Clone>(queue: &WorkQueue<T>) -> Vec<T> {
    let mut done = Vec::new();
    while let Some(Some(item)) = now_or_never(queue.get()) {
        done.push(T::clone(&item));
    }
    done
}
