//! The queued items, by priority and then by arrival.

use std::{cmp::Reverse, collections::BTreeMap, num::NonZeroU32};

use super::priority::Priority;

/// A place in the order of arrival: lower came first. Never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position(pub(super) u64);

/// The queued items. The first of the highest class is next; after `fair_share` items that overtook an older one, the
/// oldest of all is.
#[derive(Debug)]
pub(super) struct ReadyItems<T> {
    /// No class is empty.
    classes: BTreeMap<Reverse<Priority>, BTreeMap<Position, T>>,
    /// The number of items handed out of which one is the oldest of all; unset for strict priorities.
    fair_share: Option<NonZeroU32>,
    /// The number of items in a row that overtook an older one.
    overtaken_count: u32,
}

// === impl ReadyItems ===

impl<T> ReadyItems<T> {
    pub(super) fn new(fair_share: Option<NonZeroU32>) -> Self {
        Self {
            classes: BTreeMap::new(),
            fair_share,
            overtaken_count: 0,
        }
    }

    pub(super) fn insert(&mut self, item: T, priority: Priority, position: Position) {
        let class = self.classes.entry(Reverse(priority)).or_default();
        let displaced = class.insert(position, item);
        debug_assert!(displaced.is_none(), "a place is given once");
    }

    pub(super) fn remove(&mut self, priority: Priority, position: Position) -> Option<T> {
        let class = self.classes.get_mut(&Reverse(priority))?;
        let item = class.remove(&position);
        if class.is_empty() {
            self.classes.remove(&Reverse(priority));
        }
        item
    }

    /// Takes out the item that is next.
    pub(super) fn pop(&mut self) -> Option<T> {
        let (highest, oldest) = (self.highest()?, self.oldest()?);
        // An item that is both overtakes no other: the count of overtaking begins anew.
        let next = if highest == oldest {
            self.overtaken_count = 0;
            highest
        } else {
            self.overtaken_count = self.overtaken_count.saturating_add(1);
            match self.fair_share {
                Some(share) if self.overtaken_count >= share.get() => {
                    self.overtaken_count = 0;
                    oldest
                }
                _ => highest,
            }
        };
        self.remove(next.0, next.1)
    }

    fn highest(&self) -> Option<(Priority, Position)> {
        let (Reverse(priority), class) = self.classes.first_key_value()?;
        let (position, _) = class.first_key_value()?;
        Some((*priority, *position))
    }

    fn oldest(&self) -> Option<(Priority, Position)> {
        self.classes
            .iter()
            .filter_map(|(Reverse(priority), class)| {
                let (position, _) = class.first_key_value()?;
                Some((*priority, *position))
            })
            .min_by_key(|(_, position)| *position)
    }
}
