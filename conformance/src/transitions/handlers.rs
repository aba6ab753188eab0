//! The transitions of a handler's knowledge of an object.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use crate::trace::{Key, NotifiedCause, NotifiedChange, Observation};

/// A notification, by what the handler knew of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HandlerTransition(Knowledge, Kind, NotifiedCause);

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
    ) -> Option<((usize, usize, Key), HandlerTransition)> {
        let Observation::Notified(notified) = observation else {
            return None;
        };
        let (kind, after) = match &notified.change {
            NotifiedChange::Added { .. } => (Kind::Added, Knowledge::Known),
            NotifiedChange::Updated { .. } => (Kind::Updated, Knowledge::Known),
            NotifiedChange::Deleted {
                is_tombstone: false,
                ..
            } => (Kind::Deleted, Knowledge::Gone),
            NotifiedChange::Deleted { .. } => (Kind::DeletedUnseen, Knowledge::Gone),
        };
        let object = (notified.informer, notified.handler, notified.key.clone());
        let before = self.0.insert(object.clone(), after).unwrap_or_default();
        Some((object, HandlerTransition(before, kind, notified.cause?)))
    }
}

impl Display for HandlerTransition {
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
pub(super) const KNOWN: &[HandlerTransition] = &[
    HandlerTransition(Knowledge::Unknown, Kind::Added, NotifiedCause::Initial),
    HandlerTransition(Knowledge::Unknown, Kind::Added, NotifiedCause::Live),
    HandlerTransition(Knowledge::Unknown, Kind::Added, NotifiedCause::Relist),
    HandlerTransition(Knowledge::Known, Kind::Updated, NotifiedCause::Live),
    HandlerTransition(Knowledge::Known, Kind::Updated, NotifiedCause::Relist),
    HandlerTransition(Knowledge::Known, Kind::Updated, NotifiedCause::Resync),
    HandlerTransition(Knowledge::Known, Kind::Deleted, NotifiedCause::Live),
    HandlerTransition(Knowledge::Known, Kind::DeletedUnseen, NotifiedCause::Live),
    HandlerTransition(Knowledge::Known, Kind::DeletedUnseen, NotifiedCause::Relist),
    HandlerTransition(Knowledge::Gone, Kind::Added, NotifiedCause::Live),
    HandlerTransition(Knowledge::Gone, Kind::Added, NotifiedCause::Relist),
];
