//! The objects that a list or a watch selects, and the event that a change is to it.

use fakeserver_value::object::selectors::{FieldSelector, LabelSelector, ShardSelector};

use crate::store::{Change, Range, StoredObject};

/// The type of an event about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EventKind {
    Added,
    Modified,
    Deleted,
}

/// The selection of objects of a resource.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) range: Range,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
    pub(crate) shard: ShardSelector,
}

// === impl Selection ===

impl Selection {
    /// All objects of `range`.
    #[cfg(test)]
    pub(crate) fn everything(range: Range) -> Self {
        Self {
            range,
            labels: LabelSelector::default(),
            fields: FieldSelector::default(),
            shard: ShardSelector::default(),
        }
    }

    pub(crate) fn matches(&self, object: &StoredObject) -> bool {
        self.range.contains(object)
            && self.labels.matches(object.labels())
            && self.fields.matches(|field| object.field(field))
            && self.shard.matches(object.uid(), object.namespace())
    }

    /// Returns whether all objects of its range are selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything() && self.shard.is_everything()
    }

    /// Returns the event that `change` is to a watcher of this selection. An object that leaves it is a deletion for it.
    pub(crate) fn event(&self, change: &Change) -> Option<EventKind> {
        let before = change.before().is_some_and(|object| self.matches(object));
        let after = change.after().is_some_and(|object| self.matches(object));
        match (before, after) {
            (false, true) => Some(EventKind::Added),
            (true, true) => Some(EventKind::Modified),
            (true, false) => Some(EventKind::Deleted),
            (false, false) => None,
        }
    }
}
