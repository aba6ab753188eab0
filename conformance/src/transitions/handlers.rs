//! The transitions of a handler's knowledge of an object.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use crate::trace::{Heard, Key, NotifiedCause, Observation};

/// A notification, by what the handler knew of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told(Knowledge, Kind, NotifiedCause);

/// The knowledge of one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Knowledge {
    #[default]
    Unknown,
    Known,
    Gone,
}

/// The kind of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Added,
    Updated,
    Deleted,
    DeletedUnseen,
}

/// The knowledge of all handlers.
#[derive(Debug, Default)]
pub(super) struct Handlers(BTreeMap<(usize, usize, Key), Knowledge>);

// === impl Handlers ===

impl Handlers {
    /// Takes an observation, and returns the transition that it is, with the handler and the object.
    pub(super) fn observe(
        &mut self,
        observation: &Observation,
    ) -> Option<((usize, usize, Key), Told)> {
        let Observation::Notified(notified) = observation else {
            return None;
        };
        let (kind, after) = match &notified.heard {
            Heard::Added { .. } => (Kind::Added, Knowledge::Known),
            Heard::Updated { .. } => (Kind::Updated, Knowledge::Known),
            Heard::Deleted {
                is_tombstone: false,
                ..
            } => (Kind::Deleted, Knowledge::Gone),
            Heard::Deleted { .. } => (Kind::DeletedUnseen, Knowledge::Gone),
        };
        let object = (notified.informer, notified.handler, notified.key.clone());
        let before = self.0.insert(object.clone(), after).unwrap_or_default();
        Some((object, Told(before, kind, notified.cause?)))
    }
}

impl Display for Told {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(before, kind, cause) = self;
        let before = match before {
            Knowledge::Unknown => "unknown",
            Knowledge::Known => "known",
            Knowledge::Gone => "gone",
        };
        let kind = match kind {
            Kind::Added => "added",
            Kind::Updated => "updated",
            Kind::Deleted => "deleted",
            Kind::DeletedUnseen => "deleted unseen",
        };
        let cause = match cause {
            NotifiedCause::Initial => "initial",
            NotifiedCause::Live => "live",
            NotifiedCause::Relist => "relist",
            NotifiedCause::Resync => "resync",
        };
        write!(f, "{before} -> {kind}, {cause}")
    }
}

/// The transitions that the contract of handlers allows.
pub(super) const KNOWN: &[Told] = &[
    Told(Knowledge::Unknown, Kind::Added, NotifiedCause::Initial),
    Told(Knowledge::Unknown, Kind::Added, NotifiedCause::Live),
    Told(Knowledge::Unknown, Kind::Added, NotifiedCause::Relist),
    Told(Knowledge::Known, Kind::Updated, NotifiedCause::Live),
    Told(Knowledge::Known, Kind::Updated, NotifiedCause::Relist),
    Told(Knowledge::Known, Kind::Updated, NotifiedCause::Resync),
    Told(Knowledge::Known, Kind::Deleted, NotifiedCause::Live),
    Told(Knowledge::Known, Kind::DeletedUnseen, NotifiedCause::Live),
    Told(Knowledge::Known, Kind::DeletedUnseen, NotifiedCause::Relist),
    Told(Knowledge::Gone, Kind::Added, NotifiedCause::Live),
    Told(Knowledge::Gone, Kind::Added, NotifiedCause::Relist),
];
