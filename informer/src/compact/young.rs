//! The pure core of the young area: what has not been packed yet, oldest first.

use std::{collections::VecDeque, sync::Weak};

/// The objects that arrived last, held uncompressed.
///
/// An object that is dropped before it is old costs no packing: only its place here is left.
pub(super) struct YoungObjects<T> {
    waiting: VecDeque<(Weak<T>, usize)>,
    size_bytes: usize,
    size_max_bytes: usize,
}

/// Objects that are packed together.
pub(super) struct Batch<T> {
    pub(super) items: Vec<Weak<T>>,
    pub(super) size_bytes: usize,
}

// === impl YoungObjects ===

impl<T> YoungObjects<T> {
    pub(super) fn new(size_max_bytes: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            size_bytes: 0,
            size_max_bytes,
        }
    }

    /// Takes what arrived; where that is too much, gives the older half to be packed.
    pub(super) fn push(&mut self, item: Weak<T>, size_bytes: usize) -> Option<Batch<T>> {
        self.waiting.push_back((item, size_bytes));
        self.size_bytes += size_bytes;
        if self.size_bytes <= self.size_max_bytes {
            return None;
        }
        let mut batch = Batch {
            items: Vec::new(),
            size_bytes: 0,
        };
        while self.size_bytes > self.size_max_bytes / 2
            && let Some((item, size_bytes)) = self.waiting.pop_front()
        {
            self.size_bytes -= size_bytes;
            if item.strong_count() > 0 {
                batch.size_bytes += size_bytes;
                batch.items.push(item);
            }
        }
        (!batch.items.is_empty()).then_some(batch)
    }
}
