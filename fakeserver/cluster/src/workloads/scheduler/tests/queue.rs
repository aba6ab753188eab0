//! The queue.

use std::{sync::Arc, time::Duration};

use fakeserver_server::store::ObjectKey;
use fakeserver_value::object::Pairs;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{PodInfo, UnscheduledPod, pod};
use crate::workloads::scheduler::{
    pod::class,
    queue::{FLUSHED_AFTER, Outcome, Queue},
    rejection::{Diagnosis, FitError},
};

fn key(pod: &Value) -> ObjectKey {
    PodInfo::of(pod).key
}

fn plain(name: &str) -> Value {
    pod(name, json!({"app": "web"}), json!({}))
}

fn add(queue: &mut Queue, pod: &Value, priority: i64) -> bool {
    queue.add(&key(pod), priority, (1, Pairs::default()))
}

/// Lets a pod wait that was popped.
fn wait(queue: &mut Queue, pod: &Value, now: Instant) {
    let outcome = Outcome {
        version: 7,
        message: "why".to_owned(),
        is_hopeless: false,
    };
    let error = FitError::Nodes(Diagnosis::default());
    let read = Arc::new(UnscheduledPod::of(pod));
    let class = class(pod, &read.info);
    queue.wait(&class, read, error, outcome, now);
}

#[tokio::test(start_paused = true)]
async fn the_highest_priority_comes_first_then_the_first() {
    let mut queue = Queue::default();
    for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", 5)] {
        assert!(add(&mut queue, &plain(name), priority));
    }
    assert!(!add(&mut queue, &plain("a"), 0), "it has not changed");
    let mut order = Vec::new();
    while let Some(key) = queue.pop() {
        order.push(key.name().to_owned());
    }
    assert_eq!(order, ["b", "d", "a", "c"]);
}

#[tokio::test(start_paused = true)]
async fn of_pods_that_wait_for_the_same_one_is_woken_and_then_the_next() {
    let now = Instant::now();
    let mut queue = Queue::default();
    let (first, second) = (plain("first"), plain("second"));
    for pod in [&first, &second] {
        add(&mut queue, pod, 0);
        queue.pop();
        wait(&mut queue, pod, now);
    }
    let woken = queue.wake(|_| true, now);
    assert_eq!(woken, [(key(&first), Duration::ZERO)]);
    assert_eq!(queue.wake(|_| true, now), [], "it is woken");
    queue.ripen(&key(&second), now);
    assert_eq!(queue.pop(), Some(key(&first)));
    assert_eq!(queue.pop(), None, "the second sleeps");
    assert_eq!(queue.forget(&key(&first)), Some(key(&second)));
    assert!(queue.wake_one(&key(&second), now));
    assert_eq!(queue.pop(), Some(key(&second)));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_waits_is_looked_at_after_a_while_in_any_case() {
    let now = Instant::now();
    let mut queue = Queue::default();
    let pod = plain("p");
    add(&mut queue, &pod, 0);
    queue.pop();
    wait(&mut queue, &pod, now);
    queue.ripen(&key(&pod), now + FLUSHED_AFTER - Duration::from_secs(1));
    assert_eq!(queue.pop(), None);
    queue.ripen(&key(&pod), now + FLUSHED_AFTER);
    assert_eq!(queue.pop(), Some(key(&pod)));
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_known_while_nothing_changes() {
    let mut queue = Queue::default();
    let waiting = plain("p");
    add(&mut queue, &waiting, 0);
    queue.pop();
    wait(&mut queue, &waiting, Instant::now());
    let class = |pod: &Value| class(pod, &PodInfo::of(pod));
    assert!(queue.cached_outcome(&class(&plain("other")), 7).is_some());
    assert!(queue.cached_outcome(&class(&plain("other")), 8).is_none());
    let different = pod("other", json!({"app": "db"}), json!({}));
    assert!(queue.cached_outcome(&class(&different), 7).is_none());
}
