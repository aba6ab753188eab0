use std::{collections::VecDeque, time::Duration};

use futures::{FutureExt, poll};
use proptest::prelude::*;

use super::{Batch, DeltaFifo, DeltaFifoOptions, DeltaFifoProducer, queue::Queue};
use crate::{
    fixtures::{Value, delta, delta_text, object},
    store::{Delta, ReflectorStore, Replacement, StoreClosed},
};

// === The pure core ===

/// The batch as text; those of the initial state in parentheses.
fn batch_text(batch: &Batch<Value>) -> String {
    let deltas: Vec<_> = batch.deltas.iter().map(delta_text).collect();
    if batch.is_initial {
        format!("({})", deltas.join(" "))
    } else {
        deltas.join(" ")
    }
}

#[track_caller]
fn check_batches(batch_max: usize, queued: &str, expected: &str) {
    let mut queue = Queue::new();
    for word in queued.split_whitespace() {
        queue.push(delta(word));
    }
    let mut batches = Vec::new();
    while let Some(batch) = queue.pop(batch_max) {
        batches.push(batch_text(&batch));
    }
    assert_eq!(batches.join(" | "), expected);
    assert_eq!(queue.len(), 0);
}

#[test]
fn batches_end_before_a_key_comes_twice_and_before_what_is_about_everything() {
    check_batches(10, "", "");
    check_batches(10, "=1", "(=1)");
    check_batches(10, "=1 +a@2 +b@3 +c@4", "(=1) | +a@2 +b@3 +c@4");
    check_batches(10, "=1 +a@2 +a@3 +b@4", "(=1) | +a@2 | +a@3 +b@4");
    check_batches(10, "=1 +a@2 +b@3 +b@4", "(=1) | +a@2 +b@3 | +b@4");
    check_batches(10, "=1 -a@2 +a@3 -a@4", "(=1) | -a@2 | +a@3 | -a@4");
    check_batches(10, "=1 +a@2 =3 +b@4", "(=1) | +a@2 | =3 | +b@4");
    check_batches(10, "=1 +a@2 ^3 ^4 +b@5", "(=1) | +a@2 | ^3 | ^4 | +b@5");
    check_batches(10, "=1 ?a@2 +b@3 !b@4", "(=1) | ?a@2 +b@3 | !b@4");
}

#[test]
fn batches_end_at_their_limit() {
    check_batches(
        2,
        "=1 +a@2 +b@3 +c@4 +d@5 +e@6",
        "(=1) | +a@2 +b@3 | +c@4 +d@5 | +e@6",
    );
    check_batches(1, "=1 +a@2 +b@3", "(=1) | +a@2 | +b@3");
}

#[test]
fn a_key_in_two_namespaces_is_two_keys() {
    check_batches(10, "=1 +n/a@2 +m/a@3 +a@4", "(=1) | +n/a@2 +m/a@3 +a@4");
}

#[test]
fn changes_before_the_first_replacement_are_initial_and_do_not_make_the_state_whole() {
    check_batches(10, "+a@1 +b@2 =3 +a@4", "(+a@1 +b@2) | (=3) | +a@4");
}

#[test]
fn a_replacement_counts_once_it_has_been_processed_not_when_it_is_taken() {
    let mut queue = Queue::new();
    assert!(!queue.has_synced());
    queue.push(delta("=1"));
    queue.push(delta("=2"));
    assert!(!queue.has_synced());
    assert!(queue.pop(10).unwrap().is_initial);
    assert!(!queue.has_synced());
    queue.finish();
    assert!(queue.has_synced());
    assert!(!queue.pop(10).unwrap().is_initial);
    assert!(queue.has_synced());
}

#[test]
fn an_empty_replacement_counts() {
    let mut queue = Queue::<Value>::new();
    queue.push(delta("=1"));
    queue.pop(10);
    queue.finish();
    assert!(queue.has_synced());
}

#[test]
fn finishing_what_was_no_replacement_changes_nothing() {
    let mut queue = Queue::new();
    queue.finish();
    queue.push(delta("+a@1"));
    queue.pop(10);
    queue.finish();
    assert!(!queue.has_synced());
}

fn any_delta() -> impl Strategy<Value = String> {
    (0..9_u8, 0..4_u8, 1..99_u8).prop_map(|(kind, name, version)| match kind {
        0 => format!("={version}"),
        1 => format!("^{version}"),
        2..=5 => format!("+k{name}@{version}"),
        6 => format!("-k{name}@{version}"),
        7 => format!("?k{name}@{version}"),
        _ => format!("!k{name}@{version}"),
    })
}

proptest! {
    /// Against a model that is a plain list: nothing is lost, merged or moved, for any batches.
    #[test]
    fn items_leave_in_the_order_of_arrival(
        steps in prop::collection::vec(prop_oneof![3 => any_delta().prop_map(Some), 1 => Just(None)], 0..60),
        batch_max in 1..5_usize,
    ) {
        let mut queue = Queue::new();
        let mut model = VecDeque::new();
        let mut is_initial = true;
        for step in steps {
            let Some(word) = step else {
                let popped = queue.pop(batch_max);
                prop_assert_eq!(popped.is_some(), !model.is_empty());
                let Some(batch) = popped else { continue };
                prop_assert!(!batch.deltas.is_empty() && batch.deltas.len() <= batch_max);
                prop_assert_eq!(batch.is_initial, is_initial);
                let mut keys: Vec<_> = batch.deltas.iter().filter_map(Delta::key).collect();
                prop_assert!(keys.len() == batch.deltas.len() || batch.deltas.len() == 1);
                keys.sort();
                prop_assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
                for delta in &batch.deltas {
                    prop_assert_eq!(Some(delta_text(delta)), model.pop_front());
                    is_initial &= !matches!(delta, Delta::ReplacedAll(_));
                }
                continue;
            };
            queue.push(delta(&word));
            model.push_back(word);
            prop_assert_eq!(queue.len(), model.len());
        }
    }
}

// === The async shell ===

fn fifo(capacity: usize) -> (DeltaFifoProducer<Value>, DeltaFifo<Value>) {
    DeltaFifo::channel(&DeltaFifoOptions::default().with_capacity(capacity))
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_makes_the_producer_wait_until_something_is_taken() {
    let (mut producer, mut fifo) = fifo(2);
    producer.write(delta("+a@1")).await.unwrap();
    producer.write(delta("+b@2")).await.unwrap();
    let mut third = Box::pin(producer.write(delta("+c@3")));
    assert!(poll!(&mut third).is_pending());
    assert_eq!(fifo.queued_items().get(), 2);
    assert!(!fifo.is_empty());

    assert_eq!(batch_text(&fifo.pop().await.unwrap()), "(+a@1 +b@2)");
    assert_eq!(third.await, Ok(()));
    assert_eq!(batch_text(&fifo.pop().await.unwrap()), "(+c@3)");
    assert_eq!(fifo.queued_items().get(), 0);
    assert!(fifo.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_replacement_takes_one_place_however_large() {
    let (mut producer, mut fifo) = fifo(1);
    let objects = (0..100).map(|n| object(&format!("k{n}@1"))).collect();
    producer
        .write(Delta::ReplacedAll(Replacement::new(objects, "1".into())))
        .await
        .unwrap();
    assert!(producer.write(delta("^2")).now_or_never().is_none());
    fifo.pop().await.unwrap();
    assert_eq!(producer.write(delta("^2")).now_or_never(), Some(Ok(())));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_given_up_has_not_happened_and_keeps_no_place() {
    let (mut producer, mut fifo) = fifo(1);
    producer.write(delta("+a@1")).await.unwrap();
    let limit = Duration::from_secs(1);
    assert!(
        tokio::time::timeout(limit, producer.write(delta("+b@2")))
            .await
            .is_err()
    );
    assert_eq!(batch_text(&fifo.pop().await.unwrap()), "(+a@1)");
    producer.write(delta("+c@3")).await.unwrap();
    assert_eq!(batch_text(&fifo.pop().await.unwrap()), "(+c@3)");
}

#[tokio::test(start_paused = true)]
async fn a_pop_that_was_given_up_has_taken_nothing() {
    let (mut producer, mut fifo) = fifo(9);
    assert!(fifo.pop().now_or_never().is_none());
    producer.write(delta("+a@1")).await.unwrap();
    assert!(fifo.pop().now_or_never().is_some());
    assert!(fifo.pop().now_or_never().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_waiting_pop_is_woken_by_an_item() {
    let (mut producer, mut fifo) = fifo(9);
    let mut pop = Box::pin(fifo.pop());
    assert!(poll!(&mut pop).is_pending());
    producer.write(delta("-a@1")).await.unwrap();
    assert_eq!(batch_text(&pop.await.unwrap()), "(-a@1)");
}

#[tokio::test(start_paused = true)]
async fn a_queue_whose_producer_is_gone_drains_and_then_ends() {
    let (mut producer, mut fifo) = fifo(9);
    producer.write(delta("+a@1")).await.unwrap();
    producer.write(delta("+a@2")).await.unwrap();
    drop(producer);
    assert_eq!(batch_text(&fifo.pop().await.unwrap()), "(+a@1)");
    assert_eq!(batch_text(&fifo.pop().await.unwrap()), "(+a@2)");
    assert!(fifo.pop().await.is_none());
    assert!(fifo.pop().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_waiting_pop_is_woken_by_the_end() {
    let (producer, mut fifo) = fifo(9);
    let mut pop = Box::pin(fifo.pop());
    assert!(poll!(&mut pop).is_pending());
    drop(producer);
    assert!(pop.await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_waiting_producer_is_notified_that_the_store_is_closed() {
    let (mut producer, fifo) = fifo(1);
    producer.write(delta("+a@1")).await.unwrap();
    let mut second = Box::pin(producer.write(delta("?b@2")));
    assert!(poll!(&mut second).is_pending());
    drop(fifo);
    assert_eq!(second.await, Err(StoreClosed));
    assert_eq!(producer.write(delta("!b@3")).await, Err(StoreClosed));
}

#[tokio::test(start_paused = true)]
async fn a_closed_queue_still_gives_what_it_holds() {
    let (mut producer, mut fifo) = fifo(9);
    producer.write(delta("+a@1")).await.unwrap();
    fifo.close();
    assert_eq!(producer.write(delta("+b@2")).await, Err(StoreClosed));
    assert_eq!(batch_text(&fifo.pop().await.unwrap()), "(+a@1)");
    assert!(fifo.pop().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn asking_for_the_next_batch_says_that_the_last_was_processed() {
    let (mut producer, mut fifo) = fifo(9);
    producer.write(delta("=1")).await.unwrap();
    producer.write(delta("+a@2")).await.unwrap();
    fifo.pop().await.unwrap();
    assert!(!fifo.has_synced());
    assert!(!fifo.pop().await.unwrap().is_initial);
    assert!(fifo.has_synced());
}
