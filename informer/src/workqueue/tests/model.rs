//! The pure core against a simple model, under random operations in simulated time.

use std::{collections::BTreeSet, num::NonZeroU32, time::Duration};

use proptest::prelude::*;
use tokio::time::Instant;

use super::super::{
    DelayedItems, Priority,
    queue::{Effect, Queue, TakenItem},
};

type Item = u8;

#[derive(Clone, Debug)]
enum Op {
    Add(Item, i32),
    AddAfter(Item, u64, i32),
    /// Take an item and start with it.
    Get,
    /// Take an item and give it back, after another was added.
    GiveBack(Item),
    /// The worker that got its item at this index, modulo their number, is done.
    Done(usize),
    /// A caller that does not hold an item calls `done` for it.
    ForeignDone(Item),
    Cancel(Item),
    Advance(u64),
    ShutDown,
    ShutDownNow,
}

/// The same, with lists that are searched.
#[derive(Debug)]
struct Model {
    mode: DelayedItems,
    fair_share: Option<u32>,
    overtaken: u32,
    /// Item, priority, arrival.
    queued: Vec<(Item, i32, u64)>,
    /// Item, and the priority with which it was added again.
    processing: Vec<(Item, Option<i32>)>,
    /// Item, due, priority, turn.
    waiting: Vec<(Item, u64, i32, u64)>,
    arrivals: u64,
    turns: u64,
    is_shut_down: bool,
    is_shut_down_now: bool,
    /// The items that were added and not handed out since: they must come.
    owed: BTreeSet<Item>,
}

// === impl Model ===

impl Model {
    fn new(mode: DelayedItems, fair_share: Option<u32>) -> Self {
        Self {
            mode,
            fair_share,
            overtaken: 0,
            queued: Vec::new(),
            processing: Vec::new(),
            waiting: Vec::new(),
            arrivals: 0,
            turns: 0,
            is_shut_down: false,
            is_shut_down_now: false,
            owed: BTreeSet::new(),
        }
    }

    fn add(&mut self, item: Item, mut priority: i32) {
        if self.is_shut_down {
            return;
        }
        if self.mode == DelayedItems::Merged {
            let delayed = self.waiting.iter().position(|entry| entry.0 == item);
            if let Some(index) = delayed {
                priority = priority.max(self.waiting.remove(index).2);
            }
        }
        self.make_dirty(item, priority);
    }

    fn make_dirty(&mut self, item: Item, priority: i32) {
        self.owed.insert(item);
        if let Some(held) = self.processing.iter_mut().find(|held| held.0 == item) {
            held.1 = Some(held.1.map_or(priority, |again| again.max(priority)));
        } else if let Some(index) = self.queued.iter().position(|queued| queued.0 == item) {
            if priority > self.queued[index].1 {
                self.queued.remove(index);
                self.push(item, priority);
            }
        } else {
            self.push(item, priority);
        }
    }

    fn push(&mut self, item: Item, priority: i32) {
        self.arrivals += 1;
        self.queued.push((item, priority, self.arrivals));
    }

    fn add_after(&mut self, item: Item, delay: u64, priority: i32, now: u64) {
        if self.is_shut_down {
            return;
        }
        let is_dirty = self.queued.iter().any(|queued| queued.0 == item)
            || self.processing.contains(&(item, self.again(item))) && self.again(item).is_some();
        if delay == 0 {
            self.add(item, priority);
        } else if self.mode == DelayedItems::Merged && is_dirty {
            self.make_dirty(item, priority);
        } else if let Some(entry) = self.waiting.iter_mut().find(|entry| entry.0 == item) {
            entry.1 = entry.1.min(now + delay);
            entry.2 = entry.2.max(priority);
        } else {
            self.turns += 1;
            self.waiting.push((item, now + delay, priority, self.turns));
        }
    }

    fn again(&self, item: Item) -> Option<i32> {
        self.processing.iter().find(|held| held.0 == item)?.1
    }

    fn promote(&mut self, now: u64) {
        self.waiting.sort_by_key(|entry| (entry.1, entry.3));
        while self.waiting.first().is_some_and(|entry| entry.1 <= now) {
            let (item, _, priority, _) = self.waiting.remove(0);
            self.make_dirty(item, priority);
        }
    }

    fn take(&mut self) -> Option<(Item, i32, u64)> {
        let best = *self
            .queued
            .iter()
            .min_by_key(|(_, priority, arrival)| (-priority, *arrival))?;
        let oldest = *self.queued.iter().min_by_key(|queued| queued.2)?;
        let mut next = best;
        if best == oldest {
            self.overtaken = 0;
        } else {
            self.overtaken += 1;
            if self.fair_share.is_some_and(|share| self.overtaken >= share) {
                self.overtaken = 0;
                next = oldest;
            }
        }
        self.queued.retain(|queued| *queued != next);
        let is_held = self.processing.iter().any(|held| held.0 == next.0);
        assert!(!is_held, "two workers would hold {}", next.0);
        self.processing.push((next.0, None));
        Some(next)
    }

    fn give_back(&mut self, taken: (Item, i32, u64)) {
        let again = self.again(taken.0);
        self.processing.retain(|held| held.0 != taken.0);
        self.queued.push(taken);
        if let Some(priority) = again {
            self.make_dirty(taken.0, priority);
        }
    }

    fn done(&mut self, item: Item) -> bool {
        let Some(index) = self.processing.iter().position(|held| held.0 == item) else {
            return false;
        };
        if let (_, Some(priority)) = self.processing.remove(index) {
            self.push(item, priority);
        }
        true
    }

    fn shut_down(&mut self) {
        self.is_shut_down = true;
        self.waiting.clear();
    }

    fn shut_down_now(&mut self) {
        self.shut_down();
        self.is_shut_down_now = true;
        self.queued.clear();
        self.owed.clear();
        for held in &mut self.processing {
            held.1 = None;
        }
    }

    fn is_finished(&self) -> bool {
        self.is_shut_down
            && self.queued.is_empty()
            && self.processing.iter().all(|held| held.1.is_none())
    }
}

/// Both, side by side.
struct Pair {
    queue: Queue<Item>,
    model: Model,
    start: Instant,
    now: u64,
    /// The items that were handed out and are not done, in that order.
    held: Vec<Item>,
    /// The sum of the effects.
    depth: i64,
    started: i64,
    finished: i64,
}

// === impl Pair ===

impl Pair {
    fn new(mode: DelayedItems, fair_share: Option<u32>) -> Self {
        let share = fair_share.and_then(NonZeroU32::new);
        Self {
            queue: Queue::new(mode, share),
            model: Model::new(mode, fair_share),
            start: Instant::now(),
            now: 0,
            held: Vec::new(),
            depth: 0,
            started: 0,
            finished: 0,
        }
    }

    fn now(&self) -> Instant {
        self.start + Duration::from_millis(self.now)
    }

    fn apply(&mut self, op: &Op) {
        let now = self.now();
        match *op {
            Op::Add(item, priority) => {
                self.queue.add(item, Priority::new(priority), now);
                self.model.add(item, priority);
            }
            Op::AddAfter(item, delay, priority) => {
                let after = Duration::from_millis(delay);
                self.queue
                    .add_after(item, after, Priority::new(priority), now);
                self.model.add_after(item, delay, priority, self.now);
            }
            Op::Get => {
                self.get();
            }
            Op::GiveBack(added) => self.give_back(added),
            Op::Done(index) => {
                if !self.held.is_empty() {
                    let item = self.held.remove(index % self.held.len());
                    assert!(self.queue.done(&item, now));
                    assert!(self.model.done(item));
                }
            }
            Op::ForeignDone(item) => {
                if !self.held.contains(&item) {
                    assert!(!self.queue.done(&item, now));
                }
            }
            Op::Cancel(item) => {
                let was_delayed = self.model.waiting.iter().any(|entry| entry.0 == item);
                self.model.waiting.retain(|entry| entry.0 != item);
                assert_eq!(self.queue.cancel_delayed(&item), was_delayed);
            }
            Op::Advance(ms) => {
                self.now += ms;
                self.queue.promote(self.now());
                self.model.promote(self.now);
            }
            Op::ShutDown => {
                self.queue.shut_down();
                self.model.shut_down();
            }
            Op::ShutDownNow => {
                self.queue.shut_down_now();
                self.model.shut_down_now();
            }
        }
        self.check();
    }

    fn take(&mut self) -> Option<(TakenItem<Item>, (Item, i32, u64))> {
        let taken = self.queue.take(self.now());
        let expected = self.model.take();
        let seen = taken
            .as_ref()
            .map(|taken| (taken.item, taken.priority().get()));
        assert_eq!(seen, expected.map(|(item, priority, _)| (item, priority)));
        taken.zip(expected)
    }

    fn get(&mut self) -> bool {
        let Some((taken, _)) = self.take() else {
            return false;
        };
        self.queue.start(&taken, self.now());
        assert!(!self.held.contains(&taken.item), "one holder at a time");
        self.held.push(taken.item);
        self.model.owed.remove(&taken.item);
        true
    }

    fn give_back(&mut self, added: Item) {
        let Some((taken, expected)) = self.take() else {
            return;
        };
        assert!(!self.queue.is_finished(), "it may come back");
        self.queue.add(added, Priority::DEFAULT, self.now());
        self.model.add(added, 0);
        self.queue.give_back(taken);
        self.model.give_back(expected);
    }

    fn check(&mut self) {
        let (queue, model) = (&mut self.queue, &self.model);
        for effect in queue.drain_effects() {
            match effect {
                Effect::Queued(_) => self.depth += 1,
                Effect::Unqueued(_) => self.depth -= 1,
                Effect::Started { .. } => self.started += 1,
                Effect::Finished { .. } => self.finished += 1,
                Effect::Added | Effect::Retried => {}
            }
        }
        assert_eq!(usize::try_from(self.depth), Ok(queue.len()));
        let in_flight = usize::try_from(self.started - self.finished);
        assert_eq!(in_flight, Ok(queue.processing_len()));
        assert_eq!(queue.len(), model.queued.len());
        assert_eq!(queue.processing_len(), model.processing.len());
        let mut waiting = model.waiting.clone();
        waiting.sort_by_key(|entry| (entry.1, entry.3));
        let waiting: Vec<_> = waiting
            .into_iter()
            .map(|(item, due, ..)| (item, self.start + Duration::from_millis(due)))
            .collect();
        let seen: Vec<_> = queue
            .waiting()
            .iter()
            .map(|(item, due)| (*item, due))
            .collect();
        assert_eq!(seen, waiting);
        assert_eq!(queue.waiting().len(), waiting.len());
        assert_eq!(
            queue.waiting().next_due(),
            waiting.first().map(|next| next.1)
        );
        assert_eq!(queue.is_finished(), model.is_finished());
        let is_drained = model.is_finished() && model.processing.is_empty();
        assert_eq!(queue.is_drained(), is_drained);
        // An add is never lost: each owed item is on its way.
        for item in &model.owed {
            let is_queued = model.queued.iter().any(|queued| queued.0 == *item);
            assert!(is_queued || model.again(*item).is_some(), "{item} is lost");
        }
    }

    /// Works everything off, and gives how many items that took.
    fn drain(&mut self) -> usize {
        self.apply(&Op::ShutDown);
        let mut count = 0;
        while !self.queue.is_drained() {
            if self.get() {
                count += 1;
            }
            self.apply(&Op::Done(0));
        }
        count
    }
}

fn op() -> impl Strategy<Value = Op> {
    let (item, priority) = (0..6_u8, prop::sample::select(vec![-100, 0, 0, 0, 1]));
    let added = (item.clone(), priority.clone());
    prop_oneof![
        8 => added.clone().prop_map(|(item, priority)| Op::Add(item, priority)),
        6 => (added, 0..30_u64).prop_map(|((item, priority), ms)| Op::AddAfter(item, ms, priority)),
        8 => Just(Op::Get),
        2 => item.clone().prop_map(Op::GiveBack),
        6 => any::<usize>().prop_map(Op::Done),
        1 => item.clone().prop_map(Op::ForeignDone),
        1 => item.prop_map(Op::Cancel),
        4 => (0..20_u64).prop_map(Op::Advance),
    ]
}

fn options() -> impl Strategy<Value = (DelayedItems, Option<u32>)> {
    let mode = prop::sample::select(vec![DelayedItems::Independent, DelayedItems::Merged]);
    (mode, prop::option::of(1..4_u32))
}

proptest! {
    #[test]
    fn the_queue_is_its_model_and_a_drain_ends(
        (mode, fair_share) in options(),
        before in prop::collection::vec(op(), 0..120),
        is_now in prop::option::weighted(0.7, prop::bool::weighted(0.2)),
        after in prop::collection::vec(op(), 0..30),
    ) {
        let mut pair = Pair::new(mode, fair_share);
        for op in &before {
            pair.apply(op);
        }
        if let Some(is_now) = is_now {
            pair.apply(if is_now { &Op::ShutDownNow } else { &Op::ShutDown });
            for op in &after {
                pair.apply(op);
            }
        }
        pair.drain();
        prop_assert!(pair.model.owed.is_empty(), "never handed out: {:?}", pair.model.owed);
        prop_assert!(!pair.get());
    }

    /// N adds are at most one item in the queue and one in flight.
    #[test]
    fn adds_of_one_item_collapse(
        (mode, fair_share) in options(),
        delays in prop::collection::vec(0..3_u64, 1..50),
        is_held in any::<bool>(),
    ) {
        let mut pair = Pair::new(mode, fair_share);
        if is_held {
            pair.apply(&Op::Add(1, 0));
            pair.apply(&Op::Get);
        }
        for delay in delays {
            pair.apply(&Op::AddAfter(1, delay, 0));
        }
        pair.apply(&Op::Advance(10));
        prop_assert!(pair.queue.len() + pair.queue.processing_len() <= 1);
        prop_assert_eq!(pair.drain(), 1);
    }

    /// With a share of one in n, an item with k older ones waits for (k + 1) n others at most.
    #[test]
    fn no_item_waits_for_longer_than_its_share_allows(
        share in 1..6_u32,
        older in 0..5_u8,
        flood in prop::collection::vec(0..5_i32, 200),
    ) {
        let mut pair = Pair::new(DelayedItems::Independent, Some(share));
        for item in 0..=older {
            pair.apply(&Op::Add(item, -100));
        }
        let limit = (u32::from(older) + 1) * share;
        for (round, priority) in (1..=limit).zip(flood) {
            pair.apply(&Op::Add(100 + u8::try_from(round).unwrap(), priority));
            pair.get();
            if pair.held.contains(&older) {
                return Ok(());
            }
        }
        prop_assert!(false, "{older} was not among the first {limit}");
    }
}
