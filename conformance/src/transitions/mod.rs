//! The transitions of an informer's parts that a trace shows: of its reflector, its handlers and its work queues.
//!
//! A trace has no states of machines, and needs none: a reflector is known by what it asks for and by what it asked for
//! after, a handler by what it was told of an object that it knew or did not know, a queue by its events.

mod reflector;
mod handlers;
mod queues;

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use self::{handlers::Told, reflector::Asked};
use crate::trace::Trace;

/// A transition of one of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transition(Part);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Reflector(Asked),
    Handler(Told),
    Queue(&'static str),
}

/// The counts of transitions.
pub type Counts = BTreeMap<Transition, u64>;

/// Counts the transitions in a trace; those that are [`known`] and did not occur are there, with 0.
pub fn count(trace: &Trace) -> Counts {
    let mut counts: Counts = known().map(|made| (made, 0)).collect();
    let mut reflectors = reflector::Reflectors::default();
    let mut handlers = handlers::Handlers::default();
    for observation in trace.observations() {
        let made = [
            reflectors.observe(observation).map(Part::Reflector),
            handlers.observe(observation).map(Part::Handler),
            queues::observe(observation).map(Part::Queue),
        ];
        for part in made.into_iter().flatten() {
            *counts.entry(Transition(part)).or_default() += 1;
        }
    }
    counts
}

/// Returns the transitions that happen in four hundred small seeds, but for those of handlers and queues, which are all that
/// there can be.
pub fn known() -> impl Iterator<Item = Transition> {
    let reflector = reflector::KNOWN.iter().copied().map(Part::Reflector);
    let handlers = handlers::KNOWN.iter().copied().map(Part::Handler);
    let queues = queues::KNOWN.iter().copied().map(Part::Queue);
    reflector.chain(handlers).chain(queues).map(Transition)
}

impl Display for Transition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Part::Reflector(asked) => write!(f, "reflector: {asked}"),
            Part::Handler(told) => write!(f, "handler: {told}"),
            Part::Queue(event) => write!(f, "work queue: {event}"),
        }
    }
}

#[cfg(test)]
mod tests;
