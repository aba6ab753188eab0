//! The rate limited queue: client-go's `rate_limiting_queue_test.go`, by sentence.

use std::time::Duration;

use tokio::time::{Instant, advance};

use super::{
    super::{
        AddOptions, RateLimiter, WorkQueue, WorkQueueOptions,
        limiters::{ItemExponentialFailure, ItemFastSlow},
    },
    MS, S, is_idle, next, work_off,
};

fn queue() -> WorkQueue<&'static str> {
    let limiter = ItemExponentialFailure::new(MS(1), S(1));
    WorkQueue::with_options(WorkQueueOptions::new().with_rate_limiter(limiter))
}

#[tokio::test(start_paused = true)]
async fn an_item_waits_for_as_long_as_the_limiter_says() {
    let queue = queue();
    let start = Instant::now();
    queue.add_rate_limited("one");
    assert_eq!(queue.delayed_until(&"one"), Some(start + MS(1)));
    queue.get().await.unwrap().done();
    queue.add_rate_limited("one");
    assert_eq!(queue.delayed_until(&"one"), Some(start + MS(1) + MS(2)));
    assert_eq!(queue.num_requeues(&"one"), 2);
    queue.add_rate_limited("two");
    assert_eq!(queue.delayed_until(&"two"), Some(start + MS(1) + MS(1)));
    assert_eq!(queue.num_requeues(&"two"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_forgotten_item_has_no_failures_and_keeps_its_place() {
    let queue = queue();
    queue.add_rate_limited("one");
    queue.add_rate_limited("one");
    queue.forget(&"one");
    assert_eq!(queue.num_requeues(&"one"), 0);
    assert_eq!(queue.delayed_len(), 1, "forgetting takes nothing back");
    advance(MS(1)).await;
    let item = next(&queue);
    queue.forget(&item);
    assert_eq!(queue.processing_len(), 1, "forgetting is not being done");
    item.done();
    let start = Instant::now();
    queue.add_rate_limited("one");
    assert_eq!(queue.delayed_until(&"one"), Some(start + MS(1)));
}

#[tokio::test(start_paused = true)]
async fn of_a_delay_and_a_limit_the_shorter_holds_unless_it_is_zero() {
    let limiter = ItemFastSlow::new(Duration::ZERO, S(1), 1);
    let queue = WorkQueue::with_options(WorkQueueOptions::new().with_rate_limiter(limiter));
    let options = AddOptions::new().with_rate_limit();
    let start = Instant::now();
    queue.add_with("zero limit", options.with_after(S(2)));
    assert_eq!(queue.delayed_until(&"zero limit"), Some(start + S(2)));
    queue.add_with("both zero", options);
    assert_eq!(work_off(&queue), ["both zero"]);
    for (item, after, expected) in [("a", 2_000, 1_000), ("b", 500, 500), ("c", 0, 1_000)] {
        queue.add_with(item, options.with_after(S(9)));
        queue.cancel_delayed(&item);
        queue.add_with(item, options.with_after(MS(after)));
        assert_eq!(
            queue.delayed_until(&item),
            Some(start + MS(expected)),
            "{item}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_default_limiter_is_the_one_of_controllers() {
    let queue = WorkQueue::new();
    let start = Instant::now();
    for item in 0..101 {
        queue.add_rate_limited(item);
    }
    assert_eq!(queue.delayed_until(&0), Some(start + MS(5)));
    assert_eq!(queue.delayed_until(&99), Some(start + MS(5)));
    assert_eq!(queue.delayed_until(&100), Some(start + MS(100)));
    let queue = WorkQueue::with_options(WorkQueueOptions::controller_runtime());
    for item in 0..1_000 {
        queue.add_rate_limited(item);
    }
    assert_eq!(queue.delayed_until(&999), Some(start + MS(5)));
}

struct Panics;

impl RateLimiter<&'static str> for Panics {
    fn when(&mut self, _: &&'static str, _: Instant) -> Duration {
        std::panic::resume_unwind(Box::new("a limiter that panics"));
    }

    fn forget(&mut self, _: &&'static str) {}

    fn num_requeues(&self, _: &&'static str, _: Instant) -> u32 {
        7
    }
}

#[tokio::test(start_paused = true)]
async fn a_limiter_that_panics_leaves_the_queue_alone() {
    let queue = WorkQueue::with_options(WorkQueueOptions::new().with_rate_limiter(Panics));
    let add = std::panic::AssertUnwindSafe(|| queue.add_rate_limited("foo"));
    assert!(std::panic::catch_unwind(add).is_err());
    assert!(is_idle(&queue));
    assert_eq!(queue.num_requeues(&"foo"), 7);
    queue.add("foo");
    assert_eq!(work_off(&queue), ["foo"]);
}
