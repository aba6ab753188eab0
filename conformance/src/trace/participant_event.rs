//! Observations of participants, whose types their own folders define.

use std::{
    any::Any,
    fmt::{self, Debug, Display, Formatter},
    sync::Arc,
};

use super::{Observation, in_file::Objects};
use crate::tracefile::EventKind;

/// An observation of a participant.
pub(crate) trait Event: Any + Debug + Display + Send + Sync {
    /// Returns the number of the actor and the event in a trace file, if there is one.
    fn in_file(&self, objects: &mut dyn Objects) -> Option<(Option<usize>, EventKind)>;

    /// Returns the messages that its participant logs as warnings when requests fail.
    fn warnings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the part of the participant that it is about, all if `None`, and its name; `None` if it says nothing new.
    fn step(&self) -> Option<(Option<usize>, &'static str)> {
        None
    }
}

/// An observation of a participant, of any type.
#[derive(Clone)]
pub struct ParticipantEvent {
    event: Arc<dyn Event>,
    equals: fn(&dyn Event, &dyn Event) -> bool,
}

// === impl ParticipantEvent ===

impl ParticipantEvent {
    /// Returns the event if it is of this type.
    pub(crate) fn get<E: Event>(&self) -> Option<&E> {
        let event: &dyn Any = &*self.event;
        event.downcast_ref()
    }

    pub(crate) fn as_event(&self) -> &dyn Event {
        &*self.event
    }
}

impl PartialEq for ParticipantEvent {
    fn eq(&self, other: &Self) -> bool {
        (self.equals)(&*self.event, &*other.event)
    }
}

impl Debug for ParticipantEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.event, f)
    }
}

impl Display for ParticipantEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.event, f)
    }
}

impl<E: Event + PartialEq> From<E> for Observation {
    fn from(event: E) -> Self {
        let equals = |one: &dyn Event, other: &dyn Event| {
            let (one, other): (&dyn Any, &dyn Any) = (one, other);
            one.downcast_ref::<E>() == other.downcast_ref::<E>()
        };
        Self::Participant(ParticipantEvent {
            event: Arc::new(event),
            equals,
        })
    }
}

// === impl Observation ===

impl Observation {
    /// Returns the event of a participant if it is of this type.
    pub(crate) fn event<E: Event>(&self) -> Option<&E> {
        match self {
            Self::Participant(event) => event.get(),
            _ => None,
        }
    }

    /// Returns the number of the actor and the event in a trace file; `None` for what only checkers need.
    pub(crate) fn in_file(&self, objects: &mut dyn Objects) -> Option<(Option<usize>, EventKind)> {
        match self {
            Self::Participant(event) => event.as_event().in_file(objects),
            other => other.row_in_file(objects),
        }
    }
}
