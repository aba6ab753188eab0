//! The delaying queue: client-go's `delaying_queue_test.go`, by sentence, and what it lacks.

use std::{pin::pin, time::Duration};

use futures::poll;
use tokio::time::{Instant, advance, sleep};

use super::{
    super::{AddOptions, DelayedItems, DrainResult, WorkQueue, WorkQueueOptions},
    MS, S,
    counted::WakeCounter,
    is_idle, is_over, next, work_off,
};

fn merged() -> WorkQueue<&'static str> {
    WorkQueue::with_options(WorkQueueOptions::new().with_delayed_items(DelayedItems::Merged))
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_is_handed_out_when_its_time_has_come_and_not_before() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    queue.add_after("foo", MS(50));
    assert!(is_idle(&queue));
    assert_eq!((queue.len(), queue.delayed_len()), (0, 1));
    advance(MS(49)).await;
    assert!(is_idle(&queue));
    assert_eq!(*queue.get().await.unwrap(), "foo");
    assert_eq!(start.elapsed(), MS(50));
    advance(S(60)).await;
    assert!(is_idle(&queue), "it is handed out once");
}

#[tokio::test(start_paused = true)]
async fn of_two_delays_of_an_item_the_earlier_holds() {
    for delays in [[50, 30], [30, 50]] {
        let queue = WorkQueue::new();
        let start = Instant::now();
        for delay in delays {
            queue.add_after("foo", MS(delay));
        }
        assert_eq!(queue.delayed_len(), 1);
        queue.get().await.unwrap().done();
        assert_eq!(start.elapsed(), MS(30));
        advance(MS(60)).await;
        assert!(is_idle(&queue));
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_add_with_a_shorter_delay_fires_early_for_those_who_wait_already() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    queue.add_after("foo", S(1));
    let mut getter = pin!(queue.get());
    assert!(poll!(&mut getter).is_pending());
    queue.add_after("bar", MS(10));
    assert_eq!(*getter.await.unwrap(), "bar");
    assert_eq!(start.elapsed(), MS(10));
    assert_eq!(*queue.get().await.unwrap(), "foo");
    assert_eq!(start.elapsed(), S(1));
}

#[tokio::test(start_paused = true)]
async fn items_come_in_the_order_of_their_times_whatever_the_order_in_which_they_were_delayed() {
    let queue = WorkQueue::new();
    for (item, delay) in [
        ("first", 1_000),
        ("second", 500),
        ("third", 100),
        ("4th", 500),
    ] {
        queue.add_after(item, MS(delay));
    }
    advance(S(2)).await;
    assert_eq!(work_off(&queue), ["third", "second", "4th", "first"]);
}

#[tokio::test(start_paused = true)]
async fn a_due_item_is_ahead_of_later_ones_without_a_getter() {
    let queue = WorkQueue::new();
    queue.add_after("waited", MS(10));
    advance(MS(20)).await;
    queue.add("new");
    assert_eq!(work_off(&queue), ["waited", "new"]);
}

#[tokio::test(start_paused = true)]
async fn no_delay_is_an_add() {
    let queue = WorkQueue::new();
    queue.add_after("foo", Duration::ZERO);
    assert_eq!((queue.len(), queue.delayed_len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_delay_without_end_is_not_an_overflow() {
    let queue = WorkQueue::new();
    queue.add_after("foo", Duration::MAX);
    let mut getter = pin!(queue.get());
    assert!(poll!(&mut getter).is_pending());
    sleep(S(10 * 365 * 24 * 3_600)).await;
    assert!(poll!(&mut getter).is_pending());
    queue.add("bar");
    assert_eq!(*getter.await.unwrap(), "bar");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_delayed_items_do_not_block() {
    let queue = WorkQueue::new();
    for item in 0..5_000 {
        queue.add_after(item, MS(5_000 - item));
    }
    assert_eq!(queue.delayed_len(), 5_000);
    advance(S(5)).await;
    let expected: Vec<_> = (0..5_000).rev().collect();
    assert_eq!(work_off(&queue), expected);
}

#[tokio::test(start_paused = true)]
async fn nothing_but_a_due_item_wakes_a_waiting_worker() {
    let queue = WorkQueue::new();
    queue.add_after("foo", S(3_600));
    let mut getter = WakeCounter::new(queue.get());
    assert!(getter.poll().is_pending());
    // client-go looks every ten seconds.
    sleep(S(3_599)).await;
    assert_eq!(getter.wakes_count(), 0);
    sleep(S(1)).await;
    assert_eq!(getter.wakes_count(), 1);
    assert!(getter.poll().is_ready());
}

#[tokio::test(start_paused = true)]
async fn delayed_items_can_be_inspected() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    queue.add_after("foo", S(2));
    queue.add_after("bar", S(1));
    assert_eq!(
        queue.delayed(),
        [("bar", start + S(1)), ("foo", start + S(2))]
    );
    assert_eq!(queue.delayed_until(&"foo"), Some(start + S(2)));
    assert_eq!(queue.delayed_until(&"baz"), None);
    advance(S(1)).await;
    assert_eq!(queue.delayed_until(&"bar"), None);
    assert_eq!((queue.len(), queue.delayed_len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_can_be_cancelled() {
    let queue = WorkQueue::new();
    queue.add_after("foo", S(1));
    queue.add_after("bar", S(2));
    let mut getter = pin!(queue.get());
    assert!(poll!(&mut getter).is_pending());
    let start = Instant::now();
    assert!(queue.cancel_delayed(&"foo"));
    assert!(!queue.cancel_delayed(&"foo"));
    assert_eq!(*getter.await.unwrap(), "bar");
    assert_eq!(start.elapsed(), S(2));
    queue.add("foo");
    assert!(!queue.cancel_delayed(&"foo"), "queued is not delayed");
    assert_eq!(work_off(&queue), ["foo"]);
}

#[tokio::test(start_paused = true)]
async fn an_independent_delayed_item_fires_though_the_item_was_added_meanwhile() {
    let queue = WorkQueue::new();
    queue.add_after("foo", S(1));
    queue.add("foo");
    assert_eq!(work_off(&queue), ["foo"]);
    assert_eq!(queue.delayed_len(), 1);
    advance(S(1)).await;
    assert_eq!(work_off(&queue), ["foo"]);
    // Queued already when it is due: still one.
    queue.add_after("foo", S(1));
    queue.add("foo");
    advance(S(1)).await;
    assert_eq!(work_off(&queue), ["foo"]);
}

#[tokio::test(start_paused = true)]
async fn a_merged_delayed_item_is_the_one_that_was_added_meanwhile() {
    let queue = merged();
    queue.add_after("foo", S(1));
    queue.add("foo");
    assert_eq!((queue.len(), queue.delayed_len()), (1, 0));
    queue.add_after("foo", S(1));
    assert_eq!((queue.len(), queue.delayed_len()), (1, 0));
    assert_eq!(work_off(&queue), ["foo"]);
    advance(S(2)).await;
    assert!(is_idle(&queue));
}

#[tokio::test(start_paused = true)]
async fn an_item_delayed_by_its_worker_waits_for_its_time_and_for_the_worker() {
    for queue in [WorkQueue::new(), merged()] {
        queue.add("foo");
        let item = next(&queue);
        queue.add_after("foo", S(1));
        item.done();
        assert!(is_idle(&queue));
        advance(S(1)).await;
        let item = next(&queue);
        queue.add_after("foo", S(1));
        advance(S(2)).await;
        assert!(is_idle(&queue));
        item.done();
        assert_eq!(work_off(&queue), ["foo"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_priority_of_a_delayed_item_holds_when_it_is_due() {
    let queue = WorkQueue::new();
    let delayed = |priority: i32| AddOptions::new().with_after(S(1)).with_priority(priority);
    queue.add_with("low", delayed(-1));
    queue.add_with("high", delayed(1));
    queue.add_with("raised", delayed(-1));
    queue.add_with("raised", delayed(2));
    advance(S(1)).await;
    assert_eq!(work_off(&queue), ["raised", "high", "low"]);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_the_wait_for_a_delayed_item_at_once() {
    let queue = WorkQueue::new();
    queue.add_after("foo", S(3_600));
    let mut getter = pin!(queue.get());
    assert!(poll!(&mut getter).is_pending());
    let start = Instant::now();
    assert_eq!(queue.shut_down_with_drain().await, DrainResult::All);
    assert!(getter.await.is_none());
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(is_over(&queue));
}
