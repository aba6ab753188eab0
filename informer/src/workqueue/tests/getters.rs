//! Getters: wakeups and order.

use futures::poll;
use tokio::time::{Instant, advance, sleep};

use super::{super::WorkQueue, MS, S, counted::WakeCounter, is_idle, next, work_off};

#[tokio::test(start_paused = true)]
async fn an_item_wakes_one_of_those_who_wait_and_it_is_the_first() {
    let queue = WorkQueue::new();
    let mut getters: Vec<_> = (0..5).map(|_| WakeCounter::new(queue.get())).collect();
    for getter in &mut getters {
        assert!(getter.poll().is_pending());
    }
    queue.add("foo");
    queue.add("bar");
    let woken: Vec<_> = getters.iter().map(WakeCounter::wakes_count).collect();
    assert_eq!(woken, [1, 1, 0, 0, 0]);
    assert_eq!(*getters[0].poll_ready().unwrap(), "foo");
    assert_eq!(*getters[1].poll_ready().unwrap(), "bar");
    assert!(getters[2].poll().is_pending());
}

#[tokio::test(start_paused = true)]
async fn no_getter_takes_an_item_that_is_reserved_for_another() {
    let queue = WorkQueue::new();
    let mut first = WakeCounter::new(queue.get());
    assert!(first.poll().is_pending());
    queue.add("foo");
    assert!(is_idle(&queue), "a newcomer does not overtake");
    assert_eq!((queue.len(), queue.processing_len()), (0, 1));
    assert_eq!(*first.poll_ready().unwrap(), "foo");
}

#[tokio::test(start_paused = true)]
async fn an_item_put_aside_for_one_who_left_keeps_its_place_and_wakes_the_next() {
    let queue = WorkQueue::new();
    let mut first = WakeCounter::new(queue.get());
    let mut second = WakeCounter::new(queue.get());
    assert!(first.poll().is_pending());
    assert!(second.poll().is_pending());
    queue.add(1);
    assert_eq!((first.wakes_count(), second.wakes_count()), (1, 0));
    drop(first);
    assert_eq!(second.wakes_count(), 1);
    assert_eq!(*second.poll_ready().unwrap(), 1);

    let mut third = WakeCounter::new(queue.get());
    assert!(third.poll().is_pending());
    queue.add(2);
    queue.add(3);
    drop(third);
    assert_eq!(work_off(&queue), [2, 3], "2 is still ahead of 3");
}

#[tokio::test(start_paused = true)]
async fn an_item_that_was_added_again_while_put_aside_is_given_back_once() {
    let queue = WorkQueue::new();
    let mut getter = WakeCounter::new(queue.get());
    assert!(getter.poll().is_pending());
    queue.add("foo");
    queue.add("foo");
    drop(getter);
    assert_eq!(queue.len(), 1);
    assert_eq!(work_off(&queue), ["foo"]);
    assert!(is_idle(&queue));
}

#[tokio::test(start_paused = true)]
async fn one_who_left_without_anything_is_passed_over() {
    let queue = WorkQueue::new();
    let mut first = WakeCounter::new(queue.get());
    let mut second = WakeCounter::new(queue.get());
    assert!(first.poll().is_pending());
    assert!(second.poll().is_pending());
    drop(first);
    queue.add("foo");
    assert_eq!(*second.poll_ready().unwrap(), "foo");
}

#[tokio::test(start_paused = true)]
async fn a_due_item_wakes_two_at_most() {
    let queue = WorkQueue::new();
    let mut getters: Vec<_> = (0..5).map(|_| WakeCounter::new(queue.get())).collect();
    queue.add_after("foo", S(1));
    for getter in &mut getters {
        assert!(getter.poll().is_pending());
    }
    sleep(S(2)).await;
    // Who keeps the timer sees that the item is due, and it goes to the one who waited longest.
    let keeper = getters.iter().position(|getter| getter.wakes_count() > 0);
    let mut keeper = getters.remove(keeper.unwrap());
    let got = keeper.poll();
    let ready = getters.iter_mut().filter(|getter| getter.wakes_count() > 0);
    let ready: Vec<_> = ready.map(WakeCounter::poll_ready).collect();
    assert!(got.is_pending() != ready.is_empty(), "one of them has it");
    assert!(ready.len() <= 1);
}

#[tokio::test(start_paused = true)]
async fn the_timer_survives_the_one_who_keeps_it() {
    for leaver in 0..3 {
        let queue = WorkQueue::new();
        queue.add_after("foo", S(1));
        let mut getters: Vec<_> = (0..3).map(|_| Box::pin(queue.get())).collect();
        for getter in &mut getters {
            assert!(poll!(getter).is_pending());
        }
        drop(getters.remove(leaver));
        let start = Instant::now();
        let (item, _, others) = futures::future::select_all(getters).await;
        assert_eq!(*item.unwrap(), "foo");
        assert_eq!(start.elapsed(), S(1));
        drop(others);
    }
}

#[tokio::test(start_paused = true)]
async fn the_timer_is_passed_on_when_its_keeper_gets_another_item() {
    let queue = WorkQueue::new();
    let mut keeper = WakeCounter::new(queue.get());
    assert!(keeper.poll().is_pending());
    queue.add_after("late", S(1));
    assert_eq!(keeper.wakes_count(), 1, "it is to set the timer");
    assert!(keeper.poll().is_pending());
    let mut second = WakeCounter::new(queue.get());
    assert!(second.poll().is_pending());
    queue.add("soon");
    // Whether or not the first one runs.
    assert_eq!(second.wakes_count(), 1, "now it is to set the timer");
    assert_eq!(*keeper.poll_ready().unwrap(), "soon");
    assert!(second.poll().is_pending());
    sleep(S(1)).await;
    assert_eq!(*second.poll_ready().unwrap(), "late");
}

#[tokio::test(start_paused = true)]
async fn an_item_that_just_became_due_is_for_those_who_waited_for_it() {
    let queue = WorkQueue::new();
    queue.add_after("foo", S(1));
    let mut first = WakeCounter::new(queue.get());
    assert!(first.poll().is_pending());
    advance(S(1)).await;
    assert!(is_idle(&queue), "a newcomer does not overtake");
    assert_eq!(*first.poll_ready().unwrap(), "foo");
}

#[tokio::test(start_paused = true)]
async fn the_keeper_of_the_timer_is_woken_for_an_earlier_time_only() {
    let queue = WorkQueue::new();
    queue.add_after("foo", S(10));
    let mut keeper = WakeCounter::new(queue.get());
    assert!(keeper.poll().is_pending());
    queue.add_after("later", S(20));
    queue.add_after("foo", S(15));
    assert_eq!(keeper.wakes_count(), 0);
    queue.add_after("sooner", S(5));
    assert_eq!(keeper.wakes_count(), 1);
    assert!(keeper.poll().is_pending());
    sleep(S(5)).await;
    assert_eq!(keeper.wakes_count(), 2);
    assert_eq!(*keeper.poll_ready().unwrap(), "sooner");
}

#[tokio::test(start_paused = true)]
async fn cancelled_gets_lose_no_item() {
    let queue = WorkQueue::new();
    let mut seen = Vec::new();
    for item in 0..100_u64 {
        queue.add_after(item, MS(item % 7));
    }
    // Longer and shorter than what they wait for.
    for limit in (0..3).cycle().map(MS) {
        if seen.len() == 100 {
            break;
        }
        if let Ok(Some(item)) = tokio::time::timeout(limit, queue.get()).await {
            seen.push(*item);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..100).collect::<Vec<_>>());
    assert_eq!((queue.len(), queue.processing_len()), (0, 0));
}

#[tokio::test]
async fn a_worker_that_never_waits_lets_others_run() {
    let queue = WorkQueue::new();
    queue.add("foo");
    let tasks = crate::task::TaskSet::new();
    let worker = queue.clone();
    tasks.spawn(async move {
        while let Some(item) = worker.get().await {
            worker.add(*item);
        }
    });
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    queue.shut_down_now();
    tasks.wait().await;
}

#[tokio::test(start_paused = true)]
async fn a_get_that_is_not_polled_holds_nothing() {
    let queue = WorkQueue::new();
    let unpolled = queue.get();
    queue.add("foo");
    next(&queue).done();
    drop(unpolled);
    advance(S(1)).await;
    assert!(is_idle(&queue));
}
