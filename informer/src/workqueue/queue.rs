//! The pure core: which items are delayed, queued and being processed. It has no clock, no lock and no await.

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use tokio::time::Instant;

use super::{
    options::DelayedItems,
    priority::Priority,
    ready::{Position, ReadyItems},
    waiting::{WaitingItems, due_at},
};

/// Which items need work, and which are being worked on.
///
/// An item is dirty if it is queued, or if it is processed and was added again meanwhile. The two sets are disjoint:
/// what is queued is not being processed, which is why no two workers hold the same item.
#[derive(Debug)]
pub(super) struct Queue<T> {
    queued: BTreeMap<T, Ticket>,
    /// The items of `queued` in their order.
    ready: ReadyItems<T>,
    processing: BTreeMap<T, ItemInFlight>,
    waiting: WaitingItems<T>,
    delayed_items: DelayedItems,
    shutdown: Shutdown,
    next_place: u64,
    /// The number of items in `processing` that were added again meanwhile.
    dirty_count: usize,
    /// The number of items in `processing` that were taken, but not started.
    taken_count: usize,
    effects: Vec<Effect>,
}

/// The effects of an operation, for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// An item became dirty.
    Added,
    /// An item was added with a delay, which may be zero.
    Retried,
    /// The queue grew by an item of this priority.
    Queued(Priority),
    /// The queue shrank by an item of this priority.
    Unqueued(Priority),
    /// A worker began with an item; the time for which the item had been dirty.
    Started { waited: Duration },
    /// A worker was done with an item; the time that this took.
    Finished { worked: Duration },
}

/// An item on its way to a worker: it counts as processed, but can still be given back.
#[derive(Debug)]
pub(super) struct TakenItem<T> {
    pub(super) item: T,
    ticket: Ticket,
}

/// The items in flight and their ages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnfinishedItems {
    /// The time spent so far, summed over the items.
    pub(super) total: Duration,
    /// The longest of them.
    pub(super) longest: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Ticket {
    priority: Priority,
    position: Position,
    /// Since when the item is dirty.
    since: Instant,
}

#[derive(Debug)]
struct ItemInFlight {
    since: Instant,
    is_started: bool,
    again: Option<ReaddedItem>,
}

/// An item that was added while it was being processed.
#[derive(Clone, Copy, Debug)]
struct ReaddedItem {
    priority: Priority,
    since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shutdown {
    No,
    /// Nothing new is taken in; what is dirty is still handed out.
    Begun,
    /// Nothing is handed out either.
    Now,
}

// === impl Queue ===

impl<T: Ord + Clone> Queue<T> {
    pub(super) fn new(delayed_items: DelayedItems, fair_share: Option<NonZeroU32>) -> Self {
        Self {
            queued: BTreeMap::new(),
            ready: ReadyItems::new(fair_share),
            processing: BTreeMap::new(),
            waiting: WaitingItems::new(),
            delayed_items,
            shutdown: Shutdown::No,
            next_place: 0,
            dirty_count: 0,
            taken_count: 0,
            effects: Vec::new(),
        }
    }

    /// Marks `item` as in need of work. Ignored once shut down.
    pub(super) fn add(&mut self, item: T, priority: Priority, now: Instant) {
        if self.is_shutting_down() {
            return;
        }
        let delayed = match self.delayed_items {
            DelayedItems::Independent => None,
            DelayedItems::Merged => self.waiting.remove(&item),
        };
        let priority = delayed.map_or(priority, |entry| entry.priority.max(priority));
        self.mark_dirty(item, priority, now);
    }

    /// Adds `item` once `delay` has passed. Ignored once shut down.
    pub(super) fn add_after(&mut self, item: T, delay: Duration, priority: Priority, now: Instant) {
        if self.is_shutting_down() {
            return;
        }
        self.effects.push(Effect::Retried);
        if delay.is_zero() {
            self.add(item, priority, now);
        } else if self.delayed_items == DelayedItems::Merged && self.is_dirty(&item) {
            // The earlier time holds, and that is now.
            self.mark_dirty(item, priority, now);
        } else {
            self.waiting.insert(item, due_at(now, delay), priority);
        }
    }

    /// Queues the items that are due. To be called before every other operation, so that a due item is ahead of items
    /// that are added later.
    pub(super) fn promote(&mut self, now: Instant) {
        while let Some((item, entry)) = self.waiting.pop_due(now) {
            // Dirty since it was due, not since now: the wait for this call counts as latency of the queue.
            self.mark_dirty(item, entry.priority, entry.due);
        }
    }

    /// Takes the next item out of the queue, for a worker that is about to [`start`](Self::start) with it.
    pub(super) fn take(&mut self, now: Instant) -> Option<TakenItem<T>> {
        let item = self.ready.pop()?;
        let ticket = self
            .queued
            .remove(&item)
            .expect("what is ready has a ticket");
        self.effects.push(Effect::Unqueued(ticket.priority));
        self.taken_count += 1;
        let processing = ItemInFlight {
            since: now,
            is_started: false,
            again: None,
        };
        let held = self.processing.insert(item.clone(), processing);
        debug_assert!(held.is_none(), "what is queued is not being processed");
        Some(TakenItem { item, ticket })
    }

    /// The worker has it: its time begins.
    pub(super) fn start(&mut self, taken: &TakenItem<T>, now: Instant) {
        let processing = self
            .processing
            .get_mut(&taken.item)
            .expect("what was taken is being processed until it is done");
        debug_assert!(!processing.is_started, "an item is started once");
        processing.is_started = true;
        processing.since = now;
        self.taken_count -= 1;
        self.effects.push(Effect::Started {
            waited: now.saturating_duration_since(taken.ticket.since),
        });
    }

    /// The worker went away before it could start: the item gets its old place back, as if it had never been taken.
    pub(super) fn give_back(&mut self, taken: TakenItem<T>) {
        let TakenItem { item, ticket } = taken;
        let Some(processing) = self.processing.remove(&item) else {
            return;
        };
        self.taken_count -= 1;
        self.dirty_count -= usize::from(processing.again.is_some());
        if self.shutdown == Shutdown::Now {
            return;
        }
        self.ready
            .insert(item.clone(), ticket.priority, ticket.position);
        self.queued.insert(item.clone(), ticket);
        self.effects.push(Effect::Queued(ticket.priority));
        // What was added meanwhile is the same item: only a higher priority is left of it.
        if let Some(again) = processing.again {
            self.raise(&item, again.priority);
        }
    }

    /// The worker is done: the item is queued again if it was added meanwhile. False, and nothing else, if it is not
    /// being processed.
    pub(super) fn done(&mut self, item: &T, now: Instant) -> bool {
        let Some((item, processing)) = self.processing.remove_entry(item) else {
            return false;
        };
        debug_assert!(processing.is_started, "what was not started is given back");
        self.effects.push(Effect::Finished {
            worked: now.saturating_duration_since(processing.since),
        });
        if let Some(again) = processing.again {
            self.dirty_count -= 1;
            // At the end of the queue, but dirty since it was added: its place is new, its latency is not.
            self.enqueue(item, again.priority, again.since);
        }
        true
    }

    /// Takes nothing new from now on and drops what is delayed; what is dirty is still handed out.
    pub(super) fn shut_down(&mut self) {
        self.shutdown = self.shutdown.max(Shutdown::Begun);
        self.waiting.clear();
    }

    /// As [`shut_down`](Self::shut_down), and drops what is dirty as well.
    pub(super) fn shut_down_now(&mut self) {
        self.shut_down();
        self.shutdown = Shutdown::Now;
        while self.ready.pop().is_some() {}
        for ticket in std::mem::take(&mut self.queued).into_values() {
            self.effects.push(Effect::Unqueued(ticket.priority));
        }
        // Items in flight are finished, but not handed out again.
        for processing in self.processing.values_mut() {
            processing.again = None;
        }
        self.dirty_count = 0;
    }

    /// Takes `item` off the delayed ones. False if it is not among them.
    pub(super) fn cancel_delayed(&mut self, item: &T) -> bool {
        self.waiting.remove(item).is_some()
    }

    pub(super) fn drain_effects(&mut self) -> impl Iterator<Item = Effect> {
        self.effects.drain(..)
    }

    pub(super) fn is_shutting_down(&self) -> bool {
        self.shutdown > Shutdown::No
    }

    /// Returns whether no item will be handed out any more. An item that is dirty or could be given back counts as one
    /// that will: otherwise all other workers could leave while the item still needs one.
    pub(super) fn is_finished(&self) -> bool {
        match self.shutdown {
            Shutdown::No => false,
            Shutdown::Begun => {
                self.queued.is_empty() && self.dirty_count == 0 && self.taken_count == 0
            }
            Shutdown::Now => true,
        }
    }

    /// Returns whether, after a shutdown, nothing is queued and nothing processed.
    pub(super) fn is_drained(&self) -> bool {
        self.is_shutting_down() && self.queued.is_empty() && self.processing.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queued.len()
    }

    pub(super) fn processing_len(&self) -> usize {
        self.processing.len()
    }

    pub(super) fn waiting(&self) -> &WaitingItems<T> {
        &self.waiting
    }

    pub(super) fn unfinished(&self, now: Instant) -> UnfinishedItems {
        let times = self
            .processing
            .values()
            .map(|processing| now.saturating_duration_since(processing.since));
        times.fold(UnfinishedItems::default(), |sum, time| UnfinishedItems {
            total: sum.total.saturating_add(time),
            longest: sum.longest.max(time),
        })
    }

    fn is_dirty(&self, item: &T) -> bool {
        self.queued.contains_key(item)
            || self
                .processing
                .get(item)
                .is_some_and(|processing| processing.again.is_some())
    }

    /// Adds `item`, which is dirty since `since`, unless it is dirty already.
    fn mark_dirty(&mut self, item: T, priority: Priority, since: Instant) {
        if let Some(processing) = self.processing.get_mut(&item) {
            if let Some(again) = &mut processing.again {
                again.priority = again.priority.max(priority);
            } else {
                processing.again = Some(ReaddedItem { priority, since });
                self.dirty_count += 1;
                self.effects.push(Effect::Added);
            }
        } else if self.queued.contains_key(&item) {
            self.raise(&item, priority);
        } else {
            self.effects.push(Effect::Added);
            self.enqueue(item, priority, since);
        }
    }

    fn enqueue(&mut self, item: T, priority: Priority, since: Instant) {
        let position = Position(self.next_place);
        self.next_place += 1;
        self.ready.insert(item.clone(), priority, position);
        self.queued.insert(
            item,
            Ticket {
                priority,
                position,
                since,
            },
        );
        self.effects.push(Effect::Queued(priority));
    }

    /// Moves a queued item to the end of a higher class; a priority that is not higher changes nothing.
    fn raise(&mut self, item: &T, priority: Priority) {
        let position = Position(self.next_place);
        let Some(ticket) = self.queued.get_mut(item) else {
            return;
        };
        if priority <= ticket.priority {
            return;
        }
        let old = std::mem::replace(
            ticket,
            Ticket {
                priority,
                position,
                since: ticket.since,
            },
        );
        self.next_place += 1;
        self.ready.remove(old.priority, old.position);
        self.ready.insert(item.clone(), priority, position);
        self.effects.push(Effect::Unqueued(old.priority));
        self.effects.push(Effect::Queued(priority));
    }
}

// === impl TakenItem ===

impl<T> TakenItem<T> {
    pub(super) fn priority(&self) -> Priority {
        self.ticket.priority
    }
}
