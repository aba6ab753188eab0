//! The async shell: performs the core's steps under a lock, and wakes whom they concern.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use tokio::time::{Instant, Sleep, sleep_until};

use super::{
    getters::{GetterId, Getters},
    limiters::RateLimiter,
    metrics::Metrics,
    options::WorkQueueOptions,
    queue::{Queue, TakenItem, UnfinishedItems},
};
use crate::sync::{Mutex, lock};

/// The state that all handles of one queue, its getters and the items in flight share.
pub(super) struct Shared<T: Ord + Clone> {
    state: Mutex<State<T>>,
    /// Apart from the state, so that a limiter that panics or is slow leaves the queue alone.
    rate_limiter: Mutex<Box<dyn RateLimiter<T>>>,
    name: Option<Arc<str>>,
}

pub(super) struct State<T> {
    pub(super) queue: Queue<T>,
    getters: Getters<T>,
    drainers: BTreeMap<u64, Waker>,
    next_drainer: u64,
    /// The number of times that drains were aborted.
    releases_count: u64,
    /// The drainers that are still to be woken for it.
    released: Vec<Waker>,
    pub(super) metrics: Option<Metrics>,
}

/// Resolves to the next item, or to none once the queue is shut down and nothing is left to hand out.
#[must_use]
pub(super) struct Get<'a, T: Ord + Clone> {
    shared: &'a Arc<Shared<T>>,
    id: Option<GetterId>,
    timer: Option<Pin<Box<Sleep>>>,
}

/// Resolves once nothing is queued or processed (true), or a plain shutdown said not to wait for it (false).
#[must_use]
pub(super) struct Drain<'a, T: Ord + Clone> {
    shared: &'a Arc<Shared<T>>,
    id: Option<u64>,
    releases_before: u64,
}

enum Step<T> {
    Take(TakenItem<T>),
    Finished,
    /// Nothing yet; the getter that keeps the timer checks again at this time, even without a wake-up.
    Wait {
        until: Option<Instant>,
    },
}

// === impl Shared ===

impl<T: Ord + Clone> Shared<T> {
    pub(super) fn new(options: WorkQueueOptions<T>) -> Self {
        Self {
            state: Mutex::new(State {
                queue: Queue::new(options.delayed_items, options.fair_share),
                getters: Getters::new(),
                drainers: BTreeMap::new(),
                next_drainer: 0,
                releases_count: 0,
                released: Vec::new(),
                metrics: options.name.clone().map(Metrics::new),
            }),
            rate_limiter: Mutex::new(options.rate_limiter),
            name: options.name,
        }
    }

    pub(super) fn name(&self) -> Option<&Arc<str>> {
        self.name.as_ref()
    }

    /// Performs one step, with everything that is due at its moment already added.
    pub(super) fn update<R>(&self, step: impl FnOnce(&mut State<T>, Instant) -> R) -> R {
        let (result, _) = self.update_polled(None, |state, now, _| step(state, now));
        result
    }

    pub(super) fn with_rate_limiter<R>(
        &self,
        ask: impl FnOnce(&mut dyn RateLimiter<T>, Instant) -> R,
    ) -> R {
        let mut rate_limiter = lock(&self.rate_limiter);
        ask(&mut **rate_limiter, Instant::now())
    }

    /// Begins to wait until the queue has drained.
    pub(super) fn drain(self: &Arc<Self>) -> Drain<'_, T> {
        let releases_before = self.update(|state, _| {
            state.queue.shut_down();
            state.releases_count
        });
        Drain {
            shared: self,
            id: None,
            releases_before,
        }
    }

    /// As [`update`](Self::update), in the poll of the getter `polled`, which the step may change: that one need not be
    /// woken. Gives also until when it is to sleep, if it keeps the timer.
    fn update_polled<R>(
        &self,
        mut polled: Option<GetterId>,
        step: impl FnOnce(&mut State<T>, Instant, &mut Option<GetterId>) -> R,
    ) -> (R, Option<Instant>) {
        let mut wakers = Vec::new();
        let mut state = lock(&self.state);
        // Under the lock, so that time does not run backwards from one step to the next.
        let now = Instant::now();
        state.queue.promote(now);
        // Before the step: getters that have waited take what is due ahead of one that comes now.
        state.serve(now, &mut wakers);
        let result = step(&mut state, now, &mut polled);
        state.settle(now, polled, &mut wakers);
        let until = polled.and_then(|id| state.getters.sleep_until(id));
        drop(state);
        // Without the lock, as a waker may run its task at once.
        for waker in wakers {
            waker.wake();
        }
        (result, until)
    }
}

// === impl State ===

impl<T: Ord + Clone> State<T> {
    /// Ends the wait of those who drain.
    pub(super) fn release_drainers(&mut self) {
        self.releases_count += 1;
        self.released
            .extend(std::mem::take(&mut self.drainers).into_values());
    }

    fn serve(&mut self, now: Instant, wakers: &mut Vec<Waker>) {
        self.getters.serve(&mut self.queue, now, wakers);
    }

    /// Passes on what a step brought about.
    fn settle(&mut self, now: Instant, polled: Option<GetterId>, wakers: &mut Vec<Waker>) {
        self.serve(now, wakers);
        // After the items are served: a getter is dismissed only if none is left for it.
        if self.queue.is_finished() {
            self.getters.dismiss(wakers);
        }
        self.getters
            .set_timer(self.queue.waiting().next_due(), polled, wakers);
        wakers.append(&mut self.released);
        if self.queue.is_drained() {
            wakers.extend(std::mem::take(&mut self.drainers).into_values());
        }
        self.report();
    }

    fn report(&mut self) {
        let effects = self.queue.drain_effects();
        let Some(metrics) = &mut self.metrics else {
            return;
        };
        for effect in effects {
            metrics.record(effect);
        }
        if self.queue.is_drained() {
            // The times of work in flight are no longer refreshed.
            metrics.refresh(UnfinishedItems::default());
        }
    }
}

// === impl Get ===

impl<'a, T: Ord + Clone> Get<'a, T> {
    pub(super) fn new(shared: &'a Arc<Shared<T>>) -> Self {
        Self {
            shared,
            id: None,
            timer: None,
        }
    }

    fn step(&mut self, waker: &Waker) -> Step<T> {
        let id = &mut self.id;
        let (step, until) = self.shared.update_polled(*id, |state, now, polled| {
            let aside = id.and_then(|id| state.getters.collect(id));
            if let Some(taken) = aside.or_else(|| state.queue.take(now)) {
                state.queue.start(&taken, now);
                if let Some(id) = id.take() {
                    let nothing = state.getters.leave(id);
                    debug_assert!(nothing.is_none(), "what was put aside has been collected");
                }
                return Step::Take(taken);
            }
            if state.queue.is_finished() {
                *id = None;
                return Step::Finished;
            }
            let waiting = state.getters.wait(*id, waker);
            (*id, *polled) = (Some(waiting), Some(waiting));
            Step::Wait { until: None }
        });
        match step {
            Step::Wait { .. } => Step::Wait { until },
            step => step,
        }
    }
}

impl<T: Ord + Clone> Future for Get<'_, T> {
    type Output = Option<TakenItem<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            let until = match this.step(cx.waker()) {
                Step::Take(taken) => return Poll::Ready(Some(taken)),
                Step::Finished => return Poll::Ready(None),
                Step::Wait { until } => until,
            };
            let Some(until) = until else {
                this.timer = None;
                return Poll::Pending;
            };
            let timer = this
                .timer
                .get_or_insert_with(|| Box::pin(sleep_until(until)));
            if timer.deadline() != until {
                timer.as_mut().reset(until);
            }
            // Once it has gone off, an item is due.
            std::task::ready!(timer.as_mut().poll(cx));
        }
    }
}

impl<T: Ord + Clone> Drop for Get<'_, T> {
    /// Returns an item that was reserved for a dropped getter to its place, and from there to the next in line.
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        self.shared.update(|state, _| {
            if let Some(taken) = state.getters.leave(id) {
                state.queue.give_back(taken);
            }
        });
    }
}

// === impl Drain ===

impl<T: Ord + Clone> Future for Drain<'_, T> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.shared.update(|state, _| {
            if state.queue.is_drained() {
                return Poll::Ready(true);
            }
            if state.releases_count != this.releases_before {
                return Poll::Ready(false);
            }
            let id = *this.id.get_or_insert_with(|| {
                state.next_drainer += 1;
                state.next_drainer
            });
            state.drainers.insert(id, cx.waker().clone());
            Poll::Pending
        })
    }
}

impl<T: Ord + Clone> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shared.update(|state, _| {
                state.drainers.remove(&id);
            });
        }
    }
}
