//! Items that wait for one handler: changes, or a snapshot to read them from.

use std::{borrow::Cow, ops::Range, sync::Arc};

use super::coalesce::CoalescedChanges;
use crate::{
    handler::{Notification, NotificationCause},
    object::Object,
};

/// The objects that were held at one moment, read as they are delivered.
pub type PresentObjects<K> = Box<dyn ExactSizeIterator<Item = Object<K>> + Send>;

pub(super) enum Item<K> {
    /// Changes, shared with the other handlers.
    Changes {
        notifications: Arc<[Notification<K>]>,
        /// The notifications to deliver.
        range: Range<usize>,
        /// True if they happened after the initial state.
        is_live: bool,
    },
    /// Live changes beyond the limit.
    Coalesced(CoalescedChanges<K>),
    /// All that was held when the handler joined.
    Replay(PresentObjects<K>),
    /// All that was held when a resync came due.
    Resync(PresentObjects<K>),
    /// All of the initial state was delivered before.
    EndOfInitialState,
}

// === impl Item ===

impl<K> Item<K> {
    pub(super) fn changes(notifications: Arc<[Notification<K>]>, is_live: bool) -> Self {
        let range = 0..notifications.len();
        Self::Changes {
            notifications,
            range,
            is_live,
        }
    }

    /// Returns the next notification to deliver.
    pub(super) fn next(&mut self) -> Option<Cow<'_, Notification<K>>> {
        match self {
            Self::Changes {
                notifications,
                range,
                ..
            } => range.next().map(|at| Cow::Borrowed(&notifications[at])),
            Self::Coalesced(coalesced) => coalesced.pop().map(Cow::Owned),
            Self::Replay(present) => present.next().map(|object| {
                let cause = NotificationCause::Initial;
                Cow::Owned(Notification::Add { object, cause })
            }),
            Self::Resync(present) => present.next().map(|new| {
                let (old, cause) = (new.clone(), NotificationCause::Resync);
                Cow::Owned(Notification::Update { old, new, cause })
            }),
            Self::EndOfInitialState => None,
        }
    }

    pub(super) fn is_live(&self) -> bool {
        matches!(
            self,
            Self::Changes { is_live: true, .. } | Self::Coalesced(_)
        )
    }

    pub(super) fn is_resync(&self) -> bool {
        matches!(self, Self::Resync(_))
    }

    /// Returns the number of its notifications.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Changes { range, .. } => range.len(),
            Self::Coalesced(coalesced) => coalesced.len(),
            Self::Replay(present) | Self::Resync(present) => present.len(),
            Self::EndOfInitialState => 0,
        }
    }
}
