//! The work queue.

use std::collections::BTreeMap;

use futures::poll;
use informer::workqueue::{DrainResult, WorkQueue};
use shuttle::{
    future::block_on,
    sync::{Arc, Mutex},
    thread,
};

use super::check;

/// The adds of an item since it was last handed out, and the number of its holders.
#[derive(Default)]
struct Ledger {
    owed: BTreeMap<u32, bool>,
    holders: BTreeMap<u32, u32>,
}

#[derive(Clone, Default)]
struct Books(Arc<Mutex<Ledger>>);

// === impl Books ===

impl Books {
    /// Notes an add before it happens, so that it is owed from then on.
    fn add(&self, queue: &WorkQueue<u32>, item: u32) {
        self.0.lock().unwrap().owed.insert(item, true);
        queue.add(item);
    }

    /// Works off one item; false once the queue is over.
    async fn work(&self, queue: &WorkQueue<u32>) -> bool {
        let Some(item) = queue.get().await else {
            return false;
        };
        let mut ledger = self.0.lock().unwrap();
        ledger.owed.insert(*item, false);
        let holders = ledger.holders.entry(*item).or_default();
        *holders += 1;
        assert_eq!(*holders, 1, "two workers hold {}", *item);
        drop(ledger);
        thread::yield_now();
        // Given up before it is done, or another worker might be counted too early.
        *self.0.lock().unwrap().holders.get_mut(&*item).unwrap() -= 1;
        item.done();
        true
    }

    fn is_settled(&self) -> bool {
        let ledger = self.0.lock().unwrap();
        ledger.owed.values().all(|is_owed| !is_owed)
    }
}

fn worker(queue: &WorkQueue<u32>, books: &Books) -> thread::JoinHandle<()> {
    let (queue, books) = (queue.clone(), books.clone());
    thread::spawn(move || block_on(async { while books.work(&queue).await {} }))
}

fn producer(queue: &WorkQueue<u32>, books: &Books, items: [u32; 2]) -> thread::JoinHandle<()> {
    let (queue, books) = (queue.clone(), books.clone());
    thread::spawn(move || {
        for item in items {
            books.add(&queue, item);
        }
    })
}

#[test]
fn every_add_is_worked_on_by_one_worker_at_a_time_and_the_drain_ends() {
    check(3_000, || {
        let (queue, books) = (WorkQueue::new(), Books::default());
        let workers = [worker(&queue, &books), worker(&queue, &books)];
        let producers = [
            producer(&queue, &books, [1, 2]),
            producer(&queue, &books, [1, 1]),
        ];
        for producer in producers {
            producer.join().unwrap();
        }
        assert_eq!(block_on(queue.shut_down_with_drain()), DrainResult::All);
        assert!(books.is_settled());
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn an_item_that_was_put_aside_for_one_who_left_reaches_another() {
    check(3_000, || {
        let (queue, books) = (WorkQueue::new(), Books::default());
        let fickle = {
            let queue = queue.clone();
            thread::spawn(move || {
                block_on(async {
                    let mut get = Box::pin(queue.get());
                    if let std::task::Poll::Ready(item) = poll!(&mut get) {
                        // It works on nothing: the caller that resumes it owes the item.
                        if let Some(item) = item {
                            queue.add(*item);
                        }
                        return;
                    }
                    thread::yield_now();
                    drop(get);
                });
            })
        };
        let steady = worker(&queue, &books);
        producer(&queue, &books, [1, 2]).join().unwrap();
        fickle.join().unwrap();
        assert_eq!(block_on(queue.shut_down_with_drain()), DrainResult::All);
        assert!(books.is_settled());
        steady.join().unwrap();
    });
}

#[test]
fn all_who_wait_end_whenever_the_shutdown_comes() {
    check(3_000, || {
        let (queue, books) = (WorkQueue::new(), Books::default());
        let workers = [worker(&queue, &books), worker(&queue, &books)];
        let drainers = [queue.clone(), queue.clone()]
            .map(|queue| thread::spawn(move || block_on(queue.shut_down_with_drain())));
        queue.add(1);
        for drainer in drainers {
            assert_eq!(drainer.join().unwrap(), DrainResult::All);
        }
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!((queue.len(), queue.processing_len()), (0, 0));
    });
}

#[test]
fn a_plain_shutdown_releases_a_drain_whenever_it_comes() {
    check(3_000, || {
        let queue = WorkQueue::new();
        queue.add(1);
        let item = block_on(queue.get());
        let drainer = {
            let queue = queue.clone();
            thread::spawn(move || block_on(queue.shut_down_with_drain()))
        };
        let releaser = {
            let queue = queue.clone();
            thread::spawn(move || {
                // Before the drain began there is nothing to release.
                while !queue.is_shutting_down() {
                    thread::yield_now();
                }
                queue.shut_down();
            })
        };
        releaser.join().unwrap();
        assert_eq!(drainer.join().unwrap(), DrainResult::Released);
        drop(item);
    });
}
