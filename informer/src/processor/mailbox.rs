//! The pure core: what waits for one handler.

use std::{collections::VecDeque, sync::Arc};

use crate::{handler::Notification, object::Object};

/// Items that an empty mailbox keeps room for; what a burst took beyond it is given back.
const KEPT_CAPACITY: usize = 16;

/// The objects that were held at one moment, read as they are told.
pub type Present<K> = Box<dyn ExactSizeIterator<Item = Object<K>> + Send>;

/// What waits for one handler, in order.
pub(super) struct Mailbox<K> {
    items: VecDeque<Item<K>>,
    is_closed: bool,
    /// A resync waits or is being told: another one would only repeat it.
    has_resync: bool,
}

pub(super) enum Item<K> {
    /// Changes, shared with the other handlers.
    Changes {
        notifications: Arc<[Notification<K>]>,
        /// Whether they happened after the initial state.
        is_live: bool,
    },
    /// All that was held when the handler joined.
    Replay(Present<K>),
    /// All that was held when a resync came due.
    Resync(Present<K>),
    /// All of the initial state was told before.
    EndOfInitialState,
}

// === impl Mailbox ===

impl<K> Mailbox<K> {
    pub(super) fn new() -> Self {
        Self {
            items: VecDeque::new(),
            is_closed: false,
            has_resync: false,
        }
    }

    /// Adds an item; says whether it was taken. A closed mailbox takes none, and one resync at a time is enough.
    pub(super) fn push(&mut self, item: Item<K>) -> bool {
        let is_resync = matches!(item, Item::Resync(_));
        if self.is_closed || (is_resync && self.has_resync) {
            return false;
        }
        self.has_resync |= is_resync;
        self.items.push_back(item);
        true
    }

    pub(super) fn pop(&mut self) -> Option<Item<K>> {
        let item = self.items.pop_front();
        if self.items.is_empty() {
            self.items.shrink_to(KEPT_CAPACITY);
        }
        item
    }

    /// The resync that was popped has been told.
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
        std::mem::take(&mut self.items)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

// === impl Item ===

impl<K> Item<K> {
    pub(super) fn is_live(&self) -> bool {
        matches!(self, Self::Changes { is_live: true, .. })
    }

    /// How many notifications it will be.
    pub(super) fn len(&self) -> u64 {
        let len = match self {
            Self::Changes { notifications, .. } => notifications.len(),
            Self::Replay(present) | Self::Resync(present) => present.len(),
            Self::EndOfInitialState => 0,
        };
        len as u64
    }
}
