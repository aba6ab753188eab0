//! Notifications of `informer` in the words of traces.

use informer::{Deleted, Object};

use crate::trace::{Key, NotifiedChange, State};

pub(crate) fn added<K>(object: &Object<K>, is_initial: bool) -> NotifiedChange {
    NotifiedChange::Added {
        new: state(object),
        is_initial,
    }
}

pub(crate) fn updated<K>(old: &Object<K>, new: &Object<K>) -> NotifiedChange {
    NotifiedChange::Updated {
        old: state(old),
        new: state(new),
    }
}

pub(crate) fn deleted<K>(deleted: &Deleted<K>) -> NotifiedChange {
    NotifiedChange::Deleted {
        last: deleted.last_known().map(state),
        is_tombstone: deleted.is_tombstone(),
    }
}

pub(crate) fn key<K>(object: &Object<K>) -> Key {
    object.key().to_string().into()
}

pub(crate) fn state<K>(object: &Object<K>) -> State {
    State::from_wire(object.uid(), object.resource_version().as_str())
}
