//! Workers: retries, forgetting, panics, and how they stop.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures::FutureExt;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use super::{
    super::{
        Action, AddOptions, DrainResult, Priority, WorkQueue, WorkQueueOptions, Workers,
        WorkersOptions, limiters::ItemExponentialFailure,
    },
    MS, S, is_over, next, work_off,
};

fn options(count: usize) -> WorkersOptions {
    WorkersOptions::new(count)
}

fn queue() -> WorkQueue<u32> {
    let limiter = ItemExponentialFailure::new(MS(10), S(10));
    WorkQueue::with_options(WorkQueueOptions::new().with_rate_limiter(limiter))
}

/// The start times of reconciles.
#[derive(Clone)]
struct Log {
    start: Instant,
    seen: Arc<Mutex<BTreeMap<u32, Vec<u64>>>>,
}

impl Log {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            seen: Arc::default(),
        }
    }

    /// Notes a reconcile of `item`, and gives how many there were before.
    fn note(&self, item: u32) -> usize {
        let mut seen = self.seen.lock().unwrap();
        let times = seen.entry(item).or_default();
        times.push(u64::try_from(self.start.elapsed().as_millis()).unwrap());
        times.len() - 1
    }

    fn times(&self, item: u32) -> Vec<u64> {
        let seen = self.seen.lock().unwrap();
        seen.get(&item).cloned().unwrap_or_default()
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_retried_after_growing_delays_and_forgotten_on_success() {
    let (queue, log) = (queue(), Log::new());
    let noted = log.clone();
    let _workers = Workers::start(&queue, options(2), move |item| {
        let failed_before = noted.note(item);
        async move {
            if failed_before < 3 {
                Err("not yet")
            } else {
                Ok(Action::AwaitChange)
            }
        }
    });
    queue.add(1);
    sleep(MS(50)).await;
    assert_eq!(queue.num_requeues(&1), 3);
    sleep(S(60)).await;
    assert_eq!(log.times(1), [0, 10, 30, 70]);
    assert_eq!(queue.num_requeues(&1), 0);
    queue.add(1);
    sleep(S(60)).await;
    assert_eq!(log.times(1).len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_contained_and_its_item_is_done_and_retried() {
    let (queue, log) = (queue(), Log::new());
    let noted = log.clone();
    let _workers = Workers::start(&queue, options(1), move |item| {
        match (item, noted.note(item)) {
            // Before there is a future, and within it.
            (1, 0) => std::panic::resume_unwind(Box::new("at once")),
            (2, 0) => {}
            _ => return futures::future::ready(Ok::<_, String>(Action::AwaitChange)).boxed(),
        }
        async { std::panic::resume_unwind(Box::new("later".to_owned())) }.boxed()
    });
    for item in [1, 2, 3] {
        queue.add(item);
    }
    sleep(S(1)).await;
    assert_eq!(log.times(1), [0, 10]);
    assert_eq!(log.times(2), [0, 10]);
    assert_eq!(log.times(3), [0]);
    assert_eq!((queue.processing_len(), queue.num_requeues(&1)), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_item_that_asks_for_it_comes_back_after_a_delay_with_its_priority() {
    let (queue, log) = (queue(), Log::new());
    let noted = log.clone();
    let workers = Workers::start(&queue, options(1), move |item| {
        noted.note(item);
        async { Ok::<_, String>(Action::RequeueAfter(S(1))) }
    });
    queue.add_with(1, AddOptions::new().with_priority(Priority::LOW));
    sleep(MS(2_500)).await;
    assert_eq!(log.times(1), [0, 1_000, 2_000]);
    assert_eq!(queue.num_requeues(&1), 0);
    workers.abort().await;
    sleep(S(1)).await;
    assert_eq!(next(&queue).priority(), Priority::LOW);
}

#[tokio::test(start_paused = true)]
async fn a_retry_keeps_the_priority() {
    let queue = queue();
    let workers = Workers::start(&queue, options(1), async |_| Err("never"));
    queue.add_with(1, AddOptions::new().with_priority(7));
    sleep(MS(35)).await;
    workers.abort().await;
    sleep(S(1)).await;
    assert_eq!(next(&queue).priority(), Priority::new(7));
}

#[tokio::test(start_paused = true)]
async fn an_item_is_given_up_after_the_maximal_retries_until_it_is_added_again() {
    let (queue, log) = (queue(), Log::new());
    let noted = log.clone();
    let _workers = Workers::start(&queue, options(1).with_retries_max(2), move |item| {
        noted.note(item);
        async { Err("never") }
    });
    queue.add(1);
    sleep(S(60)).await;
    assert_eq!(log.times(1), [0, 10, 30]);
    assert_eq!(queue.num_requeues(&1), 0);
    queue.add(1);
    sleep(S(60)).await;
    assert_eq!(log.times(1), [0, 10, 30, 60_000, 60_010, 60_030]);
}

#[tokio::test(start_paused = true)]
async fn a_reconcile_that_takes_too_long_is_dropped_and_retried() {
    let (queue, log) = (queue(), Log::new());
    let noted = log.clone();
    let _workers = Workers::start(&queue, options(1).with_timeout(S(1)), move |item| {
        let is_first = noted.note(item) == 0;
        async move {
            if is_first {
                sleep(S(3_600)).await;
            }
            Ok::<_, String>(Action::AwaitChange)
        }
    });
    queue.add(1);
    sleep(S(10)).await;
    assert_eq!(log.times(1), [0, 1_010]);
}

#[tokio::test(start_paused = true)]
async fn as_many_items_as_workers_are_in_flight() {
    let queue = queue();
    let in_flight = Arc::new(Mutex::new((0, 0)));
    let counted = Arc::clone(&in_flight);
    let workers = Workers::start(&queue, options(3), move |_| {
        let counted = Arc::clone(&counted);
        async move {
            {
                let mut counted = counted.lock().unwrap();
                counted.0 += 1;
                counted.1 = counted.0.max(counted.1);
            }
            sleep(MS(100)).await;
            counted.lock().unwrap().0 -= 1;
            Ok::<_, String>(Action::AwaitChange)
        }
    });
    for item in 0..10 {
        queue.add(item);
    }
    let start = Instant::now();
    assert_eq!(workers.shutdown().await, DrainResult::All);
    assert_eq!(start.elapsed(), MS(400));
    assert_eq!(*in_flight.lock().unwrap(), (0, 3));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_works_off_what_is_queued_and_retries_nothing() {
    let (queue, log) = (queue(), Log::new());
    let noted = log.clone();
    let workers = Workers::start(&queue, options(1), move |item| {
        noted.note(item);
        async move {
            sleep(S(1)).await;
            if item == 2 {
                Err("no")
            } else {
                Ok(Action::RequeueAfter(S(1)))
            }
        }
    });
    for item in [1, 2, 3] {
        queue.add(item);
    }
    assert_eq!(workers.shutdown().await, DrainResult::All);
    let all = [log.times(1), log.times(2), log.times(3)];
    assert_eq!(all, [vec![0], vec![1_000], vec![2_000]]);
    assert!(is_over(&queue));
    assert_eq!(queue.delayed_len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_of_the_queue_ends_the_workers_after_their_work() {
    let (queue, log) = (queue(), Log::new());
    let noted = log.clone();
    let workers = Workers::start(&queue, options(1), move |item| {
        let noted = noted.clone();
        async move {
            sleep(S(1)).await;
            noted.note(item);
            Ok::<_, String>(Action::AwaitChange)
        }
    });
    queue.add(1);
    queue.add(2);
    tokio::task::yield_now().await;
    let shutdown = async {
        sleep(MS(500)).await;
        queue.shut_down();
    };
    let (drained, ()) = tokio::join!(workers.shutdown(), shutdown);
    assert_eq!(drained, DrainResult::Released);
    assert_eq!((log.times(1), log.times(2)), (vec![1_000], vec![2_000]));
}

#[tokio::test(start_paused = true)]
async fn dropped_workers_stop_at_once_and_put_back_what_they_were_working_on() {
    let queue = queue();
    let (began, mut has_begun) = mpsc::unbounded_channel();
    let reconcile = move |item| {
        began.send(item).unwrap();
        async {
            sleep(S(3_600)).await;
            Ok::<_, String>(Action::AwaitChange)
        }
    };
    let workers = Workers::start(&queue, options(2), reconcile);
    for item in [1, 2, 3] {
        queue.add(item);
    }
    assert_eq!(has_begun.recv().await, Some(1));
    assert_eq!(has_begun.recv().await, Some(2));
    drop(workers);
    // The reconcile function, and with it the sender, go with the last worker.
    assert_eq!(has_begun.recv().await, None);
    assert_eq!(queue.processing_len(), 0);
    assert_eq!(work_off(&queue), [3, 1, 2]);
    assert!(!queue.is_shutting_down());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_that_takes_too_long_can_be_cut_short() {
    let queue = queue();
    let workers = Workers::start(&queue, options(1), async |_| {
        sleep(S(3_600)).await;
        Ok::<_, String>(Action::AwaitChange)
    });
    queue.add(1);
    tokio::task::yield_now().await;
    let start = Instant::now();
    assert!(timeout(S(30), workers.shutdown()).await.is_err());
    tokio::task::yield_now().await;
    assert_eq!((start.elapsed(), queue.processing_len()), (S(30), 0));
    assert!(is_over(&queue));
}
