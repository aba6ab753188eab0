//! The pure core: the pending notifications of one handler, and their treatment beyond the limit.

use std::{collections::VecDeque, sync::Arc};

use super::{Buffer, coalesce::CoalescedChanges, item::Item};

/// Items for which there is room from the beginning. What a burst took beyond it is given back when the mailbox is empty.
const CAPACITY: usize = 1_024;

/// The number of coalesced changes that are taken at once. The others continue to be merged meanwhile.
const COALESCED_CHUNK_LEN: usize = 64;

/// The items that wait for one handler, in order.
pub(super) struct Mailbox<K> {
    items: VecDeque<Item<K>>,
    buffer: Buffer,
    /// The number of live changes that wait.
    backlog: usize,
    is_closed: bool,
    /// A resync is pending or being delivered: another one would only repeat it.
    has_resync: bool,
}

/// The result of pushing an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PushResult {
    /// The item waits.
    Taken {
        /// The number of its notifications.
        count: usize,
        /// The number of notifications that merging saved.
        coalesced: usize,
    },
    /// The item is not wanted.
    Refused,
    /// The item is more than may wait, and was not taken.
    Overflow {
        /// The number of changes that may wait.
        limit: usize,
    },
}

// === impl Mailbox ===

impl<K> Mailbox<K> {
    pub(super) fn new(buffer: Buffer) -> Self {
        Self {
            items: VecDeque::with_capacity(CAPACITY),
            buffer,
            backlog: 0,
            is_closed: false,
            has_resync: false,
        }
    }

    /// Adds an item. A closed mailbox takes none, and one resync at a time is enough.
    pub(super) fn push(&mut self, item: Item<K>) -> PushResult {
        if self.is_closed || (item.is_resync() && self.has_resync) {
            return PushResult::Refused;
        }
        // Until it is delivered, and not only until it is popped: a slow handler has one resync at most.
        self.has_resync |= item.is_resync();
        let count = item.len();
        let is_live = item.is_live();
        let mut coalesced = 0;
        match self.buffer {
            Buffer::Coalescing { limit } if is_live && self.backlog + count > limit => {
                coalesced = self.coalesce(item, limit);
            }
            Buffer::Disconnecting { limit } if is_live && self.backlog + count > limit => {
                return PushResult::Overflow { limit };
            }
            _ => self.items.push_back(item),
        }
        if is_live {
            self.backlog = self.backlog + count - coalesced;
        }
        PushResult::Taken { count, coalesced }
    }

    pub(super) fn pop(&mut self) -> Option<Item<K>> {
        let item = match self.items.front_mut() {
            Some(Item::Coalesced(coalesced)) if coalesced.len() > COALESCED_CHUNK_LEN => {
                let chunk = std::iter::from_fn(|| coalesced.pop()).take(COALESCED_CHUNK_LEN);
                Some(Item::changes(chunk.collect(), true))
            }
            _ => self.items.pop_front(),
        }?;
        if item.is_live() {
            self.backlog -= item.len();
        }
        if self.items.is_empty() {
            self.items.shrink_to(CAPACITY);
        }
        Some(item)
    }

    /// Notes that the resync that was popped has been delivered.
    pub(super) fn finish_resync(&mut self) {
        self.has_resync = false;
    }

    /// Takes nothing more; what waits can still be popped.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Takes nothing more; gives back what waits, to be dropped.
    pub(super) fn clear(&mut self) -> VecDeque<Item<K>> {
        self.is_closed = true;
        self.backlog = 0;
        // Given to the caller: what handlers own may be dropped with it, which has to happen outside the lock.
        std::mem::take(&mut self.items)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// For how many items there is room.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Returns the number of live changes that wait.
    #[cfg(test)]
    pub(super) fn backlog(&self) -> usize {
        self.backlog
    }

    /// Adds as much of an item in order as there is room for, and merges the rest with what came before it beyond the limit.
    /// Says how many fewer wait for that.
    fn coalesce(&mut self, item: Item<K>, limit: usize) -> usize {
        let room = limit.saturating_sub(self.backlog);
        let mut rest = item;
        if let Item::Changes {
            notifications,
            range,
            is_live,
        } = &mut rest
            && room > 0
        {
            let begin = range.start..range.start + room;
            range.start = begin.end;
            self.items.push_back(Item::Changes {
                notifications: Arc::clone(notifications),
                range: begin,
                is_live: *is_live,
            });
        }
        let mut tail = match self.items.pop_back() {
            Some(Item::Coalesced(tail)) => tail,
            // With anything else nothing is merged: an end of the initial state, or a resync, is a boundary.
            last => {
                self.items.extend(last);
                CoalescedChanges::new()
            }
        };
        let unmerged_len = tail.len() + rest.len();
        while let Some(notification) = rest.next() {
            tail.push(notification.into_owned());
        }
        let coalesced = unmerged_len - tail.len();
        self.items.push_back(Item::Coalesced(tail));
        coalesced
    }
}
