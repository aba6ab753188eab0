//! Priorities: controller-runtime's `priorityqueue_test.go`, by sentence, and fairness.

use std::{num::NonZeroU32, pin::pin};

use futures::poll;
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::{Instant, advance};

use super::{
    super::{AddOptions, DrainResult, Priority, WorkQueue, WorkQueueOptions},
    MS, S, is_idle, is_over, next, work_off,
};
use crate::{
    handler::{Notification, NotificationCause},
    object::{Deleted, Object},
};

fn queue() -> WorkQueue<&'static str> {
    WorkQueue::with_options(WorkQueueOptions::controller_runtime())
}

fn priority(priority: i32) -> AddOptions {
    AddOptions::new().with_priority(priority)
}

#[tokio::test(start_paused = true)]
async fn an_item_is_returned_with_its_priority() {
    let queue = queue();
    queue.add_with("foo", priority(7));
    let item = next(&queue);
    assert_eq!((*item, item.priority()), ("foo", Priority::new(7)));
    item.done();
    queue.add("foo");
    assert_eq!(next(&queue).priority(), Priority::DEFAULT);
}

#[tokio::test(start_paused = true)]
async fn items_are_returned_by_priority_and_then_in_order() {
    let queue = queue();
    for (item, value) in [("a", 0), ("b", -100), ("c", 1), ("d", 0), ("e", 1)] {
        queue.add_with(item, priority(value));
    }
    assert_eq!(work_off(&queue), ["c", "e", "a", "d", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_locked_item_is_withheld_until_it_is_done_and_a_new_add_of_it_is_kept() {
    let queue = queue();
    queue.add("foo");
    let item = next(&queue);
    queue.add_with("foo", priority(100));
    queue.add("bar");
    let other = next(&queue);
    assert_eq!(*other, "bar");
    assert!(is_idle(&queue));
    item.done();
    let item = next(&queue);
    assert_eq!((*item, item.priority()), ("foo", Priority::new(100)));
}

#[tokio::test(start_paused = true)]
async fn items_are_deduplicated() {
    let queue = queue();
    for _ in 0..3 {
        queue.add("foo");
        queue.add_after("foo", S(1));
        queue.add_rate_limited("foo");
    }
    assert_eq!((queue.len(), queue.delayed_len()), (1, 0));
    assert_eq!(work_off(&queue), ["foo"]);
}

#[tokio::test(start_paused = true)]
async fn the_highest_priority_is_kept_and_never_lowered() {
    let queue = queue();
    queue.add_with("foo", priority(3));
    queue.add_with("foo", priority(1));
    queue.add("foo");
    assert_eq!(next(&queue).priority(), Priority::new(3));
    queue.add_with("foo", priority(1));
    queue.add_with("foo", priority(3));
    assert_eq!(next(&queue).priority(), Priority::new(3));
    queue.add_with("foo", priority(3).with_after(S(1)));
    queue.add_with("foo", priority(1).with_after(MS(1)));
    advance(MS(1)).await;
    assert_eq!(next(&queue).priority(), Priority::new(3));
}

#[tokio::test(start_paused = true)]
async fn a_raised_item_goes_to_the_end_of_its_new_class_and_others_keep_their_place() {
    let queue = queue();
    queue.add_with("raised", priority(0));
    queue.add_with("first", priority(1));
    queue.add_with("second", priority(1));
    queue.add_with("third", priority(1));
    queue.add_with("raised", priority(1));
    queue.add_with("first", priority(1));
    queue.add_with("second", priority(0));
    queue.add_with("later", priority(1));
    let order = ["first", "second", "third", "raised", "later"];
    assert_eq!(work_off(&queue), order);
}

#[tokio::test(start_paused = true)]
async fn the_lowest_delay_is_kept() {
    let queue = queue();
    let start = Instant::now();
    queue.add_after("foo", S(3));
    queue.add_after("foo", S(1));
    queue.add_after("foo", S(2));
    assert_eq!(queue.delayed_until(&"foo"), Some(start + S(1)));
    queue.get().await.unwrap().done();
    assert_eq!(start.elapsed(), S(1));
    queue.add_after("foo", S(1));
    queue.add("foo");
    assert_eq!(queue.delayed_until(&"foo"), None);
    assert_eq!(work_off(&queue), ["foo"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_that_becomes_ready_goes_to_the_end_of_its_class() {
    let queue = queue();
    queue.add_after("delayed", S(1));
    queue.add("first");
    advance(S(1)).await;
    queue.add("second");
    assert_eq!(work_off(&queue), ["first", "delayed", "second"]);
}

#[tokio::test(start_paused = true)]
async fn a_merge_with_a_delayed_item_keeps_the_higher_priority() {
    let queue = queue();
    queue.add_with("foo", priority(5).with_after(S(1)));
    queue.add_with("foo", priority(1));
    assert_eq!(next(&queue).priority(), Priority::new(5));
    queue.add_with("foo", priority(1));
    queue.add_with("foo", priority(6).with_after(S(1)));
    assert_eq!(next(&queue).priority(), Priority::new(6));
    assert!(is_idle(&queue));
}

#[tokio::test(start_paused = true)]
async fn len_leaves_out_what_is_delayed() {
    let queue = queue();
    queue.add("foo");
    queue.add_after("bar", S(1));
    assert_eq!(queue.len(), 1);
    advance(S(1)).await;
    assert_eq!(queue.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_unblocks_get() {
    let queue = queue();
    let mut getter = pin!(queue.get());
    assert!(poll!(&mut getter).is_pending());
    queue.shut_down_now();
    assert!(getter.await.is_none());
    // A second one is no error.
    queue.shut_down_now();
    assert!(is_over(&queue));
    assert_eq!(queue.shut_down_with_drain().await, DrainResult::All);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_urgent_items_starves_no_item() {
    let share = 4;
    let options = WorkQueueOptions::new().with_fair_share(NonZeroU32::new(share).unwrap());
    let queue = WorkQueue::with_options(options);
    for item in 0..10 {
        queue.add_with(item, AddOptions::new().with_priority(Priority::LOW));
    }
    let mut low = Vec::new();
    for round in 1..=10 * share {
        queue.add(1_000 + round);
        let item = next(&queue);
        if *item < 10 {
            low.push((*item, round));
        }
    }
    let expected: Vec<_> = (0..10).map(|item| (item, (item + 1) * share)).collect();
    assert_eq!(low, expected);
}

#[tokio::test(start_paused = true)]
async fn the_default_share_is_one_in_sixteen_and_strict_priorities_share_nothing() {
    let rounds_until_low = |options: WorkQueueOptions<u32>| {
        let queue = WorkQueue::with_options(options);
        queue.add_with(0, AddOptions::new().with_priority(Priority::LOW));
        (1..=1_000).find(|round| {
            queue.add(*round);
            *next(&queue) == 0
        })
    };
    assert_eq!(rounds_until_low(WorkQueueOptions::new()), Some(16));
    let strict = WorkQueueOptions::new().with_strict_priority();
    assert_eq!(rounds_until_low(strict), None);
}

#[test]
fn initial_and_unchanged_objects_are_of_low_priority() {
    fn object(version: &str) -> Object<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some("a".to_owned());
        object.metadata.resource_version = Some(version.to_owned());
        Object::new(object)
    }
    let add = |cause| Notification::Add {
        object: object("1"),
        cause,
    };
    let update = |old: &str, new: &str, cause| Notification::Update {
        old: object(old),
        new: object(new),
        cause,
    };
    let cases = [
        (add(NotificationCause::Initial), Priority::LOW),
        (add(NotificationCause::Live), Priority::DEFAULT),
        (add(NotificationCause::Relist), Priority::DEFAULT),
        (update("1", "2", NotificationCause::Live), Priority::DEFAULT),
        (update("2", "2", NotificationCause::Relist), Priority::LOW),
        (update("2", "2", NotificationCause::Resync), Priority::LOW),
        // Without a version nothing says that it is unchanged.
        (update("", "", NotificationCause::Live), Priority::DEFAULT),
        (
            Notification::Delete {
                deleted: Deleted::Object(object("1")),
                cause: NotificationCause::Live,
            },
            Priority::DEFAULT,
        ),
    ];
    for (notification, expected) in cases {
        assert_eq!(Priority::of(&notification), expected, "{notification:?}");
    }
    assert_eq!((Priority::LOW.get(), Priority::DEFAULT.get()), (-100, 0));
}
