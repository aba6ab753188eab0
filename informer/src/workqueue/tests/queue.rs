//! The base queue: client-go's `util/workqueue/queue_test.go`, by sentence.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use tokio::time::sleep;

use super::{super::WorkQueue, MS, is_idle, is_over, next, work_off};
use crate::task::TaskSet;

#[derive(Default)]
struct Log {
    held: BTreeMap<u32, bool>,
    processed: BTreeMap<u32, u32>,
}

async fn fifty_producers_and_ten_workers(is_drained: bool) {
    let queue = WorkQueue::new();
    let log = Arc::new(Mutex::new(Log::default()));
    let (producers, workers) = (TaskSet::new(), TaskSet::new());
    for producer in 0..50 {
        let queue = queue.clone();
        producers.spawn(async move {
            for _ in 0..50 {
                queue.add(producer);
                sleep(MS(1)).await;
            }
        });
    }
    for _ in 0..10 {
        let (queue, log) = (queue.clone(), Arc::clone(&log));
        workers.spawn(async move {
            while let Some(item) = queue.get().await {
                let was_held = log.lock().unwrap().held.insert(*item, true);
                assert_ne!(was_held, Some(true), "two workers hold {}", *item);
                assert_ne!(*item, 999, "added after the shutdown");
                sleep(MS(3)).await;
                let mut log = log.lock().unwrap();
                log.held.insert(*item, false);
                *log.processed.entry(*item).or_default() += 1;
            }
        });
    }
    producers.wait().await;
    if is_drained {
        queue.shut_down_with_drain().await;
    } else {
        queue.shut_down();
    }
    queue.add(999);
    workers.wait().await;
    assert_eq!((queue.len(), queue.processing_len()), (0, 0));
    let log = log.lock().unwrap();
    assert_eq!(log.processed.len(), 50);
    assert!(log.processed.values().all(|count| (1..=50).contains(count)));
}

#[tokio::test(start_paused = true)]
async fn every_add_is_worked_on_by_one_worker_at_a_time_until_a_shutdown() {
    fifty_producers_and_ten_workers(false).await;
}

#[tokio::test(start_paused = true)]
async fn every_add_is_worked_on_by_one_worker_at_a_time_until_a_shutdown_with_drain() {
    fifty_producers_and_ten_workers(true).await;
}

#[tokio::test(start_paused = true)]
async fn items_that_their_workers_add_again_are_processed_again_and_the_queue_ends_empty() {
    let queue = WorkQueue::new();
    let processed = Arc::new(Mutex::new(BTreeMap::<u32, u32>::new()));
    let workers = TaskSet::new();
    for _ in 0..10 {
        let (queue, processed) = (queue.clone(), Arc::clone(&processed));
        workers.spawn(async move {
            while let Some(item) = queue.get().await {
                let count = {
                    let mut processed = processed.lock().unwrap();
                    let count = processed.entry(*item).or_default();
                    *count += 1;
                    *count
                };
                if count < 2 {
                    queue.add(*item);
                }
                sleep(MS(1)).await;
            }
        });
    }
    for item in 0..50 {
        queue.add(item);
    }
    sleep(MS(1_000)).await;
    queue.shut_down();
    workers.wait().await;
    assert!(queue.is_empty());
    let expected: BTreeMap<_, _> = (0..50).map(|item| (item, 2)).collect();
    assert_eq!(*processed.lock().unwrap(), expected);
}

#[test]
fn len_counts_what_is_queued_and_nothing_else() {
    let queue = WorkQueue::new();
    queue.add("foo");
    assert_eq!(queue.len(), 1);
    queue.add("bar");
    assert_eq!(queue.len(), 2);
    queue.add("foo");
    assert_eq!(queue.len(), 2);
    let item = next(&queue);
    assert_eq!((queue.len(), queue.processing_len()), (1, 1));
    queue.add_after("baz", MS(1));
    assert_eq!((queue.len(), queue.delayed_len()), (1, 1));
    item.done();
    assert_eq!((queue.len(), queue.processing_len()), (1, 0));
}

#[test]
fn an_add_during_processing_gives_exactly_one_more_round() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let item = next(&queue);
    queue.add(*item);
    item.done();
    let item = next(&queue);
    assert_eq!(*item, "foo");
    item.done();
    assert_eq!((queue.len(), queue.processing_len()), (0, 0));
    assert!(is_idle(&queue));
}

#[test]
fn two_adds_of_an_item_are_one_and_it_keeps_its_place() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    queue.add("foo");
    assert_eq!(work_off(&queue), ["foo", "bar"]);
}

#[test]
fn two_adds_during_processing_give_one_more_round_and_only_after_it_is_done() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let item = next(&queue);
    queue.add("foo");
    queue.add("foo");
    assert!(queue.is_empty());
    assert!(is_idle(&queue));
    item.done();
    assert_eq!(work_off(&queue), ["foo"]);
}

#[test]
fn first_adds_are_first_out_and_a_requeued_item_goes_to_the_end() {
    let queue = WorkQueue::new();
    queue.add(1);
    let first = next(&queue);
    queue.add(1);
    queue.add(2);
    queue.add(3);
    first.done();
    queue.add(4);
    assert_eq!(work_off(&queue), [2, 3, 1, 4]);
}

#[test]
fn queued_items_are_handed_out_after_a_shutdown_and_later_adds_are_not() {
    let queue = WorkQueue::new();
    queue.add(1);
    queue.add(2);
    assert!(!queue.is_shutting_down());
    queue.shut_down();
    queue.shut_down();
    assert!(queue.is_shutting_down());
    queue.add(3);
    queue.add_after(4, MS(0));
    queue.add_rate_limited(5);
    assert_eq!(queue.num_requeues(&5), 0);
    assert_eq!(work_off(&queue), [1, 2]);
    assert!(is_over(&queue));
}

#[test]
fn the_queue_keeps_no_reference_to_a_finished_item() {
    let queue = WorkQueue::new();
    let item = Arc::new("foo");
    queue.add(Arc::clone(&item));
    queue.add_after(Arc::clone(&item), MS(0));
    let held = next(&queue);
    queue.add(Arc::clone(&item));
    held.done();
    next(&queue).done();
    assert_eq!(Arc::strong_count(&item), 1);
    queue.add_after(Arc::clone(&item), MS(1_000));
    queue.cancel_delayed(&item);
    assert_eq!(Arc::strong_count(&item), 1);
    queue.add_after(Arc::clone(&item), MS(1_000));
    queue.shut_down();
    assert_eq!(Arc::strong_count(&item), 1);
}

#[test]
fn an_item_is_done_also_if_its_worker_panics() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let worker = std::panic::AssertUnwindSafe(|| {
        let _item = next(&queue);
        queue.add("foo");
        std::panic::resume_unwind(Box::new("the worker panics"));
    });
    assert!(std::panic::catch_unwind(worker).is_err());
    assert_eq!(queue.processing_len(), 0);
    assert_eq!(work_off(&queue), ["foo"]);
}

#[test]
fn an_item_outlives_all_handles_of_its_queue() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let item = next(&queue);
    drop(queue);
    assert_eq!(*item, "foo");
    item.done();
}
