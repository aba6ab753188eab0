//! The transitions of an informer's parts that a trace shows: of its reflector, its handlers and its work queues.
//!
//! A trace has no states of machines, and needs none: a reflector is known by what it asks for and by what it asked for
//! after, a handler by its notifications of objects that it knew or did not know, a queue by its events.

mod reflector;
mod handlers;

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use self::{handlers::HandlerTransition, reflector::RequestTransition};
use crate::{
    participants::controllers::transitions as queues,
    trace::{Key, Observation, Trace},
};

/// A transition of one of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transition(Part);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Reflector(RequestTransition),
    Handler(HandlerTransition),
    Queue(&'static str),
}

/// The counts of transitions.
pub type Counts = BTreeMap<Transition, u64>;

/// A part of a run whose transitions follow each other: a reflector, a handler with regard to one object, or a queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Reflector(usize),
    Handler(usize, usize, Key),
    Queue(usize, usize),
}

/// Finds the transitions in the observations of a run, which it takes in order.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    reflectors: reflector::Reflectors,
    handlers: handlers::Handlers,
}

/// Counts the transitions in a trace; those that are [`known`] and did not occur are there, with 0.
pub fn count(trace: &Trace) -> Counts {
    let mut counts: Counts = known().map(|made| (made, 0)).collect();
    let mut observer = Observer::default();
    for observation in trace.observations() {
        if let Some((_, made)) = observer.observe(observation) {
            *counts.entry(made).or_default() += 1;
        }
    }
    counts
}

/// Returns the transitions that happen in three thousand medium seeds, but for those of handlers and queues, which are all that
/// there can be.
pub fn known() -> impl Iterator<Item = Transition> {
    let reflector = reflector::KNOWN.iter().copied().map(Part::Reflector);
    let handlers = handlers::KNOWN.iter().copied().map(Part::Handler);
    let queues = queues::known().map(Part::Queue);
    reflector.chain(handlers).chain(queues).map(Transition)
}

// === impl Observer ===

impl Observer {
    /// Takes an observation, and returns the transition that it is, if it is one, and the part that made it.
    pub(crate) fn observe(&mut self, observation: &Observation) -> Option<(Owner, Transition)> {
        if let Some((informer, transition)) = self.reflectors.observe(observation) {
            let owner = Owner::Reflector(informer);
            return Some((owner, Transition(Part::Reflector(transition))));
        }
        if let Some(((informer, handler, key), transition)) = self.handlers.observe(observation) {
            let owner = Owner::Handler(informer, handler, key);
            return Some((owner, Transition(Part::Handler(transition))));
        }
        let ((informer, controller), event) = queues::observe(observation)?;
        let owner = Owner::Queue(informer, controller);
        Some((owner, Transition(Part::Queue(event))))
    }
}

impl Display for Transition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Part::Reflector(transition) => write!(f, "reflector: {transition}"),
            Part::Handler(transition) => write!(f, "handler: {transition}"),
            Part::Queue(event) => write!(f, "work queue: {event}"),
        }
    }
}

#[cfg(test)]
mod tests;
