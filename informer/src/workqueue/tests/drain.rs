//! Shutdown with and without drain.

use std::{pin::pin, sync::Arc};

use futures::poll;
use tokio::time::sleep;

use super::{
    super::{DrainResult, WorkQueue},
    MS, is_idle, is_over, next, work_off,
};
use crate::task::TaskSet;

#[tokio::test]
async fn a_drain_waits_for_every_item_in_flight_while_get_says_that_it_is_over() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let (first, second) = (next(&queue), next(&queue));
    let mut drain = pin!(queue.shut_down_with_drain());
    assert!(poll!(&mut drain).is_pending());
    assert!(is_over(&queue));
    first.done();
    assert!(poll!(&mut drain).is_pending());
    second.done();
    assert_eq!(drain.await, DrainResult::All);
}

#[tokio::test]
async fn a_drain_waits_for_queued_items_that_no_worker_has_taken() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let mut drain = pin!(queue.shut_down_with_drain());
    assert!(poll!(&mut drain).is_pending());
    let item = next(&queue);
    assert!(poll!(&mut drain).is_pending());
    item.done();
    assert_eq!(drain.await, DrainResult::All);
}

#[tokio::test]
async fn a_plain_shutdown_does_not_wait_for_items_in_flight() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let _first = next(&queue);
    let _second = next(&queue);
    queue.shut_down();
    assert!(is_over(&queue));
    assert_eq!(queue.processing_len(), 2);
}

#[tokio::test]
async fn a_plain_shutdown_releases_a_drain() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let _first = next(&queue);
    let tasks = TaskSet::new();
    let (ended, mut has_ended) = tokio::sync::oneshot::channel();
    let draining = queue.clone();
    tasks.spawn(async move {
        ended.send(draining.shut_down_with_drain().await).unwrap();
    });
    tokio::task::yield_now().await;
    assert!(has_ended.try_recv().is_err());
    queue.shut_down();
    assert_eq!(has_ended.await, Ok(DrainResult::Released));
}

#[tokio::test]
async fn a_drain_that_was_released_can_be_begun_again() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let item = next(&queue);
    queue.shut_down();
    let mut drain = pin!(queue.shut_down_with_drain());
    assert!(poll!(&mut drain).is_pending());
    item.done();
    assert_eq!(drain.await, DrainResult::All);
}

#[tokio::test]
async fn a_drain_hands_out_an_item_that_was_added_while_in_flight_before_it_is_over() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let item = next(&queue);
    queue.add("foo");
    let mut drain = pin!(queue.shut_down_with_drain());
    assert!(poll!(&mut drain).is_pending());
    // Not over: if a worker left now, no worker might be left for the item.
    assert!(is_idle(&queue));
    item.done();
    assert!(poll!(&mut drain).is_pending());
    let item = next(&queue);
    assert!(is_over(&queue));
    item.done();
    assert_eq!(drain.await, DrainResult::All);
}

#[tokio::test]
async fn a_worker_waits_for_an_item_that_is_put_aside_for_another_and_may_come_back() {
    let queue = WorkQueue::new();
    let mut fickle = Box::pin(queue.get());
    assert!(poll!(&mut fickle).is_pending());
    let mut steady = pin!(queue.get());
    assert!(poll!(&mut steady).is_pending());
    queue.add("foo");
    queue.shut_down();
    // It is the first one's to take, but that one may never run.
    assert!(poll!(&mut steady).is_pending());
    drop(fickle);
    assert_eq!(*steady.await.unwrap(), "foo");
}

#[tokio::test(start_paused = true)]
async fn a_drain_drops_what_is_delayed_and_does_not_wait_for_it() {
    let queue = WorkQueue::new();
    queue.add_after("foo", MS(1_000));
    assert_eq!(queue.shut_down_with_drain().await, DrainResult::All);
    assert_eq!(queue.delayed_len(), 0);
    sleep(MS(2_000)).await;
    assert!(is_over(&queue));
}

#[tokio::test]
async fn an_item_added_while_draining_is_refused_even_if_it_is_in_flight() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let item = next(&queue);
    let mut drain = pin!(queue.shut_down_with_drain());
    assert!(poll!(&mut drain).is_pending());
    queue.add("foo");
    item.done();
    assert_eq!(drain.await, DrainResult::All);
    assert!(work_off(&queue).is_empty());
}

#[tokio::test]
async fn all_who_wait_receive_of_a_shutdown() {
    let queue = WorkQueue::<u32>::new();
    let tasks = TaskSet::new();
    let counted = Arc::new(());
    for _ in 0..10 {
        let (queue, counted) = (queue.clone(), Arc::clone(&counted));
        tasks.spawn(async move {
            assert!(queue.get().await.is_none());
            drop(counted);
        });
    }
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&counted), 11);
    let drains = [queue.shut_down_with_drain(), queue.shut_down_with_drain()];
    assert_eq!(
        futures::future::join_all(drains).await,
        [DrainResult::All; 2]
    );
    tasks.wait().await;
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[tokio::test]
async fn a_shutdown_now_drops_what_is_queued_and_what_would_be_queued_again() {
    let queue = WorkQueue::new();
    queue.add("foo");
    queue.add("bar");
    let item = next(&queue);
    queue.add("foo");
    queue.shut_down_now();
    assert!(is_over(&queue));
    assert_eq!((queue.len(), queue.processing_len()), (0, 1));
    item.done();
    assert!(is_over(&queue));
    assert_eq!(queue.shut_down_with_drain().await, DrainResult::All);
}

#[tokio::test]
async fn a_drain_that_is_dropped_leaves_the_queue_shut_down() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let mut drain = Box::pin(queue.shut_down_with_drain());
    assert!(poll!(&mut drain).is_pending());
    drop(drain);
    assert!(queue.is_shutting_down());
    assert_eq!(work_off(&queue), ["foo"]);
    assert!(is_over(&queue));
}
