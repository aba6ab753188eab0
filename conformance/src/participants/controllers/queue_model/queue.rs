//! The items of a queue, as its documentation promises.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::super::plan::ControllerPlan;
use crate::trace::Key;

/// The least time for which failures are remembered.
const MEMORY_MIN: Duration = Duration::from_mins(10);

/// The items of one queue.
#[derive(Debug)]
pub(super) struct Queue {
    worker_count: usize,
    fair_share: Option<u32>,
    merges_delayed: bool,
    retry_base: Duration,
    retry_max: Duration,
    pub(super) queued: BTreeMap<Key, Ticket>,
    pub(super) in_flight: BTreeMap<Key, InFlight>,
    pub(super) delayed: BTreeMap<Key, Delay>,
    failures: BTreeMap<Key, Failures>,
    next_place: u64,
    /// The number of items in a row that overtook an older one.
    overtaking_count: u32,
    pub(super) state: State,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// It takes nothing new.
    ShutDown,
    /// It is open, and has no workers any more.
    Deserted,
}

/// The place of an item in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) priority: i32,
    place: u64,
}

/// An item that a worker has, or that is reserved for one.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    ticket: Ticket,
    /// The time since when a worker has it.
    pub(super) since: Duration,
    pub(super) has_begun: bool,
    /// The priority with which it was added meanwhile.
    again: Option<i32>,
}

/// A delayed item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    pub(super) due: Duration,
    priority: i32,
    /// The order of items that are due at the same time.
    turn: u64,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: Duration,
}

// === impl Queue ===

impl Queue {
    pub(super) fn new(plan: &ControllerPlan) -> Self {
        Self {
            worker_count: plan.worker_count.get(),
            fair_share: plan.fair_share.map(u32::from),
            merges_delayed: plan.merges_delayed,
            retry_base: Duration::from_millis(plan.retry_base_ms),
            retry_max: Duration::from_millis(plan.retry_max_ms),
            queued: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            delayed: BTreeMap::new(),
            failures: BTreeMap::new(),
            next_place: 0,
            overtaking_count: 0,
            state: State::Open,
        }
    }

    /// Adds an item at once.
    pub(super) fn add(&mut self, key: &Key, priority: i32) {
        if self.state == State::ShutDown {
            return;
        }
        let delay = self.delayed.get(key).filter(|_| self.merges_delayed);
        let priority = delay.map_or(priority, |delay| delay.priority.max(priority));
        if self.merges_delayed {
            self.delayed.remove(key);
        }
        self.mark(key, priority);
    }

    /// Adds an item after a time.
    pub(super) fn add_after(&mut self, at: Duration, key: &Key, after: Duration, priority: i32) {
        if self.state == State::ShutDown {
            return;
        }
        if after.is_zero() {
            self.add(key, priority);
        } else if self.merges_delayed && self.is_wanted(key) {
            self.mark(key, priority);
        } else {
            let turn = self.take_place();
            let due = at + after;
            let delay = self.delayed.entry(key.clone()).or_insert(Delay {
                due,
                priority,
                turn,
            });
            delay.due = delay.due.min(due);
            delay.priority = delay.priority.max(priority);
        }
    }

    /// Counts a failure, and adds the item after the time that follows from it.
    pub(super) fn retry(&mut self, at: Duration, key: &Key, priority: i32) {
        if self.state == State::ShutDown {
            return;
        }
        let count = self.failure_count_of(at, key);
        let failures = Failures {
            count: count + 1,
            last: at,
        };
        self.failures.insert(key.clone(), failures);
        let factor = 2_u32.saturating_pow(count);
        let after = self.retry_base.saturating_mul(factor).min(self.retry_max);
        self.add_after(at, key, after, priority);
    }

    pub(super) fn forget(&mut self, key: &Key) {
        self.failures.remove(key);
    }

    /// Returns the number of failures of an item in a row.
    pub(super) fn failure_count_of(&self, at: Duration, key: &Key) -> u32 {
        let memory = MEMORY_MIN.max(self.retry_max * 3);
        let failures = self.failures.get(key);
        failures
            .filter(|failures| at <= failures.last + memory)
            .map_or(0, |failures| failures.count)
    }

    /// Returns the number of failures of all items.
    pub(super) fn failure_count(&self, at: Duration) -> u32 {
        let keys = self.failures.keys();
        keys.map(|key| self.failure_count_of(at, key)).sum()
    }

    /// Returns the first time at which a delayed item is due.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.delayed.values().map(|delay| delay.due).min()
    }

    /// Queues the items that are due at a moment.
    pub(super) fn end_delays(&mut self, moment: Duration) {
        let mut due: Vec<(Duration, u64, Key)> = self
            .delayed
            .iter()
            .filter(|(_, delay)| delay.due <= moment)
            .map(|(key, delay)| (delay.due, delay.turn, key.clone()))
            .collect();
        due.sort_unstable();
        for (_, _, key) in due {
            if let Some(delay) = self.delayed.remove(&key) {
                self.mark(&key, delay.priority);
            }
        }
    }

    /// Hands items out to workers, as long as one waits.
    pub(super) fn hand_out(&mut self, at: Duration) {
        while self.state != State::Deserted
            && self.in_flight.len() < self.worker_count
            && let Some((key, ticket)) = self.take_next()
        {
            let in_flight = InFlight {
                ticket,
                since: at,
                has_begun: false,
                again: None,
            };
            self.in_flight.insert(key, in_flight);
        }
    }

    /// Ends the work on an item, which is queued again if it was added meanwhile.
    pub(super) fn finish(&mut self, key: &Key) {
        let done = self.in_flight.remove(key);
        if let Some(priority) = done.and_then(|done| done.again) {
            self.enqueue(key, priority);
        }
    }

    /// Takes nothing new any more; drops what is queued, too, if `drops_all`.
    pub(super) fn shut_down(&mut self, drops_all: bool) {
        self.state = State::ShutDown;
        self.delayed.clear();
        if drops_all {
            self.queued.clear();
            for in_flight in self.in_flight.values_mut() {
                in_flight.again = None;
            }
        }
    }

    /// Loses its workers, which put back what was reserved for them.
    pub(super) fn desert(&mut self) {
        self.state = State::Deserted;
        let reserved: BTreeSet<Key> = self.reserved().into_iter().cloned().collect();
        for key in &reserved {
            self.put_back(key);
        }
    }

    /// Ends the work on an item without an end, and adds it again with the priority that it had.
    pub(super) fn put_back(&mut self, key: &Key) {
        self.add(key, self.priority_of(key));
        self.finish(key);
    }

    /// Returns true if nothing is queued and nothing in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.queued.is_empty() && self.in_flight.is_empty()
    }

    /// Returns the items that are reserved for workers that have not begun.
    pub(super) fn reserved(&self) -> BTreeSet<&Key> {
        let reserved = self.in_flight.iter().filter(|(_, item)| !item.has_begun);
        reserved.map(|(key, _)| key).collect()
    }

    /// Returns the priority of an item in flight.
    pub(super) fn priority_of(&self, key: &Key) -> i32 {
        let in_flight = self.in_flight.get(key);
        in_flight.map_or(0, |in_flight| in_flight.ticket.priority)
    }

    /// Returns true if the item is queued, or will be once it is done.
    fn is_wanted(&self, key: &Key) -> bool {
        let in_flight = self.in_flight.get(key);
        self.queued.contains_key(key) || in_flight.is_some_and(|item| item.again.is_some())
    }

    fn mark(&mut self, key: &Key, priority: i32) {
        if let Some(in_flight) = self.in_flight.get_mut(key) {
            let again = in_flight.again.unwrap_or(priority);
            in_flight.again = Some(again.max(priority));
        } else if self
            .queued
            .get(key)
            .is_none_or(|ticket| ticket.priority < priority)
        {
            self.enqueue(key, priority);
        }
    }

    /// Puts the item at the end of its class.
    fn enqueue(&mut self, key: &Key, priority: i32) {
        let place = self.take_place();
        self.queued.insert(key.clone(), Ticket { priority, place });
    }

    /// Takes the first item of the highest priority, or the oldest of all if that has its turn.
    fn take_next(&mut self) -> Option<(Key, Ticket)> {
        let tickets = || self.queued.iter();
        let first = tickets().min_by_key(|(_, ticket)| (Reverse(ticket.priority), ticket.place))?;
        let oldest = tickets().min_by_key(|(_, ticket)| ticket.place)?;
        self.overtaking_count += 1;
        let is_turn = self
            .fair_share
            .is_some_and(|share| self.overtaking_count >= share);
        let (key, ticket) = if is_turn { oldest } else { first };
        if ticket.place == oldest.1.place {
            self.overtaking_count = 0;
        }
        let (key, ticket) = (key.clone(), *ticket);
        self.queued.remove(&key);
        Some((key, ticket))
    }

    fn take_place(&mut self) -> u64 {
        self.next_place += 1;
        self.next_place
    }
}
