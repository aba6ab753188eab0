//! The only place that spawns: every task and every thread has an owner.

use std::{
    future::Future,
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use tokio::task::JoinSet;

/// The tasks of one owner. Dropping it aborts them.
#[derive(Debug, Default)]
pub struct TaskSet(JoinSet<()>);

// === impl TaskSet ===

impl TaskSet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a set of one task.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn of(task: impl Future<Output = ()> + Send + 'static) -> Self {
        let mut tasks = Self::new();
        tasks.spawn(task);
        tasks
    }

    /// Runs `task` until it ends or its owner is gone.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(task);
    }

    /// Returns the number of tasks, those that have ended included until they are [forgotten](Self::forget_ended).
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no task, not even one that has ended.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets the tasks that have ended, and returns how many of them panicked.
    pub fn forget_ended(&mut self) -> usize {
        let mut panic_count = 0;
        while let Some(ended) = self.0.try_join_next() {
            panic_count += usize::from(ended.is_err_and(|error| error.is_panic()));
        }
        panic_count
    }

    /// Aborts all tasks without waiting for their ends.
    pub fn abort(&mut self) {
        self.0.abort_all();
    }

    /// Aborts all tasks and waits until they have ended.
    ///
    /// # Cancel safety
    ///
    /// The tasks end in any case.
    pub async fn shutdown(&mut self) {
        self.0.shutdown().await;
    }

    /// Waits until all tasks have ended by themselves.
    ///
    /// # Panics
    ///
    /// If one of them panicked.
    ///
    /// # Cancel safety
    ///
    /// The tasks are aborted.
    pub async fn wait(self) {
        self.0.join_all().await;
    }
}

/// Runs `work` on each of `items` in `thread_count` threads, and returns the results in the order of the items.
///
/// `watch` receives each result as soon as it is ready, on the calling thread.
///
/// # Panics
///
/// If `work` panics, or the system gives no thread.
pub fn map_in_threads<T: Sync, R: Send>(
    items: &[T],
    thread_count: usize,
    work: impl Fn(&T) -> R + Sync,
    mut watch: impl FnMut(&R),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    let mut done: Vec<Option<R>> = items.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..thread_count.max(1) {
            let (next, work, sender) = (&next, &work, sender.clone());
            let take = move || {
                let place = next.fetch_add(1, Ordering::Relaxed);
                items.get(place).map(|item| (place, item))
            };
            scope.spawn(move || {
                while let Some((place, item)) = take() {
                    // The receiver is gone if `watch` has panicked.
                    if sender.send((place, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (place, result) in results {
            watch(&result);
            done[place] = Some(result);
        }
    });
    done.into_iter().flatten().collect()
}

/// Runs `work` on each of `items` in `thread_count` threads, as [`map_in_threads`] does, but gives up if none of the runs in
/// progress ends within `patience`. Those are not waited for: their threads end with the process.
///
/// Returns the results in the order of the items, `None` for those that have not ended, and the number of items that were
/// begun.
pub fn map_with_patience<T: Send + Sync + 'static, R: Send + 'static>(
    items: Vec<T>,
    thread_count: usize,
    patience: Duration,
    work: fn(&T) -> R,
    mut watch: impl FnMut(&R),
) -> (Vec<Option<R>>, usize) {
    let mut done: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let shared = Arc::new((items, AtomicUsize::new(0)));
    let (sender, results) = mpsc::channel();
    let of_threads = Arc::clone(&shared);
    detach_threads(thread_count, move || {
        let (items, next) = &*of_threads;
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else {
                return;
            };
            if sender.send((place, work(item))).is_err() {
                return;
            }
        }
    });
    while let Ok((place, result)) = results.recv_timeout(patience) {
        watch(&result);
        done[place] = Some(result);
    }
    let (items, next) = &*shared;
    // No more are begun.
    let begun = next.fetch_add(items.len(), Ordering::Relaxed);
    let begun_count = begun.min(items.len());
    (done, begun_count)
}

/// Runs `work` in each of `thread_count` threads that are not waited for: those that hang end with the process.
///
/// # Panics
///
/// If the system gives no thread.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that spawns; each thread runs simulations on clocks of its own"
)]
pub fn detach_threads(thread_count: usize, work: impl Fn() + Clone + Send + 'static) {
    for _ in 0..thread_count.max(1) {
        let work = work.clone();
        drop(thread::spawn(work));
    }
}

/// Threads beside all runs that repeat something. They end with this.
#[derive(Debug)]
pub struct Background {
    is_over: Arc<AtomicBool>,
}

// === impl Background ===

impl Background {
    /// Burns processor time in `thread_count` threads, so that others are preempted at other places.
    ///
    /// # Panics
    ///
    /// If the system gives no thread.
    pub fn load(thread_count: usize) -> Self {
        Self::repeat(thread_count, || {
            let mut number = 1_u64;
            for _ in 0..1_000 {
                number = black_box(number.wrapping_mul(6_364_136_223_846_793_005) + 1);
            }
        })
    }

    /// Calls `look` at an interval, in a thread.
    ///
    /// # Panics
    ///
    /// If the system gives no thread.
    #[expect(
        clippy::disallowed_methods,
        reason = "the thread is there to wait: it measures how long that takes"
    )]
    pub fn every(interval: Duration, look: impl Fn() + Clone + Send + 'static) -> Self {
        Self::repeat(1, move || {
            thread::sleep(interval);
            look();
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that spawns; the threads end when they are stopped"
    )]
    fn repeat(thread_count: usize, work: impl Fn() + Clone + Send + 'static) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..thread_count {
            let (is_over, work) = (Arc::clone(&is_over), work.clone());
            drop(thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    work();
                }
            }));
        }
        Self { is_over }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_and_each_is_seen() {
        let items: Vec<u64> = (0..100).collect();
        let mut seen = Vec::new();
        let doubled = map_in_threads(&items, 4, |item| item * 2, |result| seen.push(*result));
        let expected: Vec<u64> = items.iter().map(|item| item * 2).collect();
        assert_eq!(doubled, expected);
        seen.sort_unstable();
        assert_eq!(seen, expected);
    }

    #[test]
    fn the_end_of_a_hanging_task_is_not_awaited() {
        let work = |item: &u64| match *item {
            1 => loop {
                thread::park();
            },
            item => item * 2,
        };
        let patience = Duration::from_millis(200);
        let (done, begun) = map_with_patience(vec![0, 1, 2], 2, patience, work, |_| {});
        assert_eq!((done, begun), (vec![Some(0), None, Some(4)], 3));
        let work = |item: &u64| item * 2;
        let (done, begun) = map_with_patience(vec![4, 5], 3, patience, work, |_| {});
        assert_eq!((done, begun), (vec![Some(8), Some(10)], 2));
    }

    #[tokio::test]
    async fn panics_are_counted_once() {
        let mut tasks = TaskSet::of(async { panic!("deliberately") });
        tokio::task::yield_now().await;
        assert_eq!(tasks.forget_ended(), 1);
        assert_eq!((tasks.forget_ended(), tasks.len()), (0, 0));
    }
}
