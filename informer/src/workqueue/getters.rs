//! The getters that wait for an item, in order, and the items reserved for them.

use std::{collections::BTreeMap, task::Waker};

use tokio::time::Instant;

use super::queue::{Queue, TakenItem};

/// Tells getters apart: lower came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GetterId(u64);

/// The getters that found nothing. Each item goes to the one that waited longest and wakes no other; one of them keeps
/// the timer for the delayed items.
#[derive(Debug)]
pub(super) struct Getters<T> {
    waiting: BTreeMap<GetterId, Waker>,
    served: BTreeMap<GetterId, TakenItem<T>>,
    timer: Option<Timer>,
    next_id: u64,
}

/// The timer's keeper: it sleeps until `until`, then looks at the queue.
#[derive(Clone, Copy, Debug)]
struct Timer {
    keeper: GetterId,
    until: Instant,
}

// === impl Getters ===

impl<T: Ord + Clone> Getters<T> {
    pub(super) fn new() -> Self {
        Self {
            waiting: BTreeMap::new(),
            served: BTreeMap::new(),
            timer: None,
            next_id: 0,
        }
    }

    /// Lets a getter wait at the end, or where it waits already.
    pub(super) fn wait(&mut self, id: Option<GetterId>, waker: &Waker) -> GetterId {
        let id = id.unwrap_or_else(|| {
            self.next_id += 1;
            GetterId(self.next_id)
        });
        match self.waiting.get_mut(&id) {
            Some(known) => known.clone_from(waker),
            None => {
                self.waiting.insert(id, waker.clone());
            }
        }
        id
    }

    /// Takes the item that was reserved for this getter.
    pub(super) fn collect(&mut self, id: GetterId) -> Option<TakenItem<T>> {
        self.served.remove(&id)
    }

    /// The getter is gone. Gives what was put aside for it.
    #[must_use]
    pub(super) fn leave(&mut self, id: GetterId) -> Option<TakenItem<T>> {
        self.waiting.remove(&id);
        self.drop_timer_of(id);
        self.served.remove(&id)
    }

    /// Puts what is queued aside for those who wait.
    pub(super) fn serve(&mut self, queue: &mut Queue<T>, now: Instant, wakers: &mut Vec<Waker>) {
        while let Some(first) = self.waiting.first_entry()
            && let Some(taken) = queue.take(now)
        {
            let (id, waker) = first.remove_entry();
            self.drop_timer_of(id);
            self.served.insert(id, taken);
            wakers.push(waker);
        }
    }

    /// Wakes all waiting getters, since no item will come.
    pub(super) fn dismiss(&mut self, wakers: &mut Vec<Waker>) {
        self.timer = None;
        wakers.extend(std::mem::take(&mut self.waiting).into_values());
    }

    /// Makes sure that one of the waiting getters, if there are any, keeps the timer, and that the timer fires when the
    /// next item is due. `polled` is awake and needs no wake-up.
    pub(super) fn set_timer(
        &mut self,
        due: Option<Instant>,
        polled: Option<GetterId>,
        wakers: &mut Vec<Waker>,
    ) {
        let Some(due) = due else {
            self.timer = None;
            return;
        };
        // The last in line is the one that stays longest.
        let Some((&last, _)) = self.waiting.last_key_value() else {
            return;
        };
        let keeper = self.timer.map_or(last, |timer| timer.keeper);
        // A timer that goes off too early only looks again, and is then set right.
        let is_in_time = self.timer.is_some_and(|timer| timer.until <= due);
        if is_in_time && polled != Some(keeper) {
            return;
        }
        self.timer = Some(Timer { keeper, until: due });
        if polled != Some(keeper)
            && let Some(waker) = self.waiting.get(&keeper)
        {
            wakers.push(waker.clone());
        }
    }

    /// Until when this getter is to sleep, if it keeps the timer.
    pub(super) fn sleep_until(&self, id: GetterId) -> Option<Instant> {
        self.timer
            .filter(|timer| timer.keeper == id)
            .map(|timer| timer.until)
    }

    fn drop_timer_of(&mut self, id: GetterId) {
        if self.timer.is_some_and(|timer| timer.keeper == id) {
            self.timer = None;
        }
    }
}
