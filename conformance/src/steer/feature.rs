//! The features of a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Display, Formatter},
};

use crate::{
    participants,
    trace::{Observation, ParticipantEvent, Trace},
    transitions::{Observer, Owner, Transition},
};

/// A feature of a run, which a plan reaches or does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Feature {
    /// A transition occurred at least this power of two times.
    Transition(Transition, u32),
    /// A promise could have been broken at least this power of two times, by its checker.
    Occasion(&'static str, u32),
    /// One part made these transitions in a row.
    Pair(Transition, Transition),
    /// An informer's reflector made a transition while a fault of this name was in force for it.
    Under(String, Transition),
    /// Faults of these names were in force at the same time.
    Together(String, String),
    /// Events of these names about one part of a participant followed each other.
    Steps(&'static str, &'static str),
}

/// The features that a run reached, and its cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReachedFeatures {
    /// The features.
    pub features: BTreeSet<Feature>,
    /// The number of observations of the run.
    pub cost: u64,
}

/// The features of a run so far.
#[derive(Default)]
struct Collector {
    features: BTreeSet<Feature>,
    observer: Observer,
    transitions: BTreeMap<Transition, u64>,
    occasions: BTreeMap<&'static str, u64>,
    /// The last transition of each part.
    last: BTreeMap<Owner, Transition>,
    /// The faults in force, with their informers; all if `None`.
    faults: BTreeMap<usize, (String, Option<usize>)>,
    /// The last event of each part of a participant, and of what concerns all.
    last_events: BTreeMap<Option<usize>, &'static str>,
}

// === impl ReachedFeatures ===

impl ReachedFeatures {
    /// Finds the features in a trace.
    pub fn of(trace: &Trace) -> Self {
        let mut collector = Collector::default();
        for observation in trace.observations() {
            collector.take(observation);
        }
        Self {
            features: collector.end(),
            cost: trace.records().len() as u64,
        }
    }
}

// === impl Feature ===

impl Feature {
    /// Returns its kind, as reports name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Transition(..) => "transitions",
            Self::Occasion(..) => "occasions",
            Self::Pair(..) => "pairs",
            Self::Under(..) => "under faults",
            Self::Together(..) => "faults together",
            Self::Steps(..) => "participants",
        }
    }
}

// === impl Collector ===

impl Collector {
    fn take(&mut self, observation: &Observation) {
        for checker in participants::checkers() {
            if checker.is_occasion(observation) {
                *self.occasions.entry(checker.name).or_default() += 1;
            }
        }
        if let Some((owner, made)) = self.observer.observe(observation) {
            self.transition(owner, made);
        }
        match observation {
            Observation::FaultBegins {
                fault,
                name,
                informer,
                ..
            } => self.fault(*fault, name, *informer),
            Observation::FaultEnds { fault } => drop(self.faults.remove(fault)),
            Observation::Participant(event) => self.event(event),
            _ => {}
        }
    }

    fn transition(&mut self, owner: Owner, made: Transition) {
        *self.transitions.entry(made).or_default() += 1;
        if let Owner::Reflector(informer) = owner {
            let of_informer = |target: &Option<usize>| target.is_none_or(|it| it == informer);
            for (name, target) in self.faults.values() {
                if of_informer(target) {
                    self.features.insert(Feature::Under(name.clone(), made));
                }
            }
        }
        if let Some(before) = self.last.insert(owner, made) {
            self.features.insert(Feature::Pair(before, made));
        }
    }

    fn fault(&mut self, number: usize, name: &str, informer: Option<usize>) {
        for (other, _) in self.faults.values() {
            let [first, second] = [other.as_str().min(name), other.as_str().max(name)];
            let together = Feature::Together(first.to_owned(), second.to_owned());
            self.features.insert(together);
        }
        self.faults.insert(number, (name.to_owned(), informer));
    }

    fn event(&mut self, event: &ParticipantEvent) {
        let Some((part, name)) = event.as_event().step() else {
            return;
        };
        // Some events concern all parts.
        let before = self.last_events.insert(part, name);
        if let Some(before) = before.or_else(|| self.last_events.get(&None).copied()) {
            self.features.insert(Feature::Steps(before, name));
        }
    }

    /// Adds the counts, and returns all features.
    fn end(mut self) -> BTreeSet<Feature> {
        for (made, count) in self.transitions {
            let powers = 0..=count.ilog2();
            let reached = powers.map(|power| Feature::Transition(made, power));
            self.features.extend(reached);
        }
        for (checker, count) in self.occasions {
            let powers = 0..=count.ilog2();
            let reached = powers.map(|power| Feature::Occasion(checker, power));
            self.features.extend(reached);
        }
        self.features
    }
}

impl Display for Feature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transition(made, power) => write!(f, "{made}, 2^{power} times"),
            Self::Occasion(checker, power) => write!(f, "occasion of {checker}, 2^{power} times"),
            Self::Pair(before, made) => write!(f, "{before}; then {made}"),
            Self::Under(fault, made) => write!(f, "{made}; under {fault}"),
            Self::Together(first, second) => write!(f, "{first} and {second} together"),
            Self::Steps(before, event) => write!(f, "{before}; then {event}"),
        }
    }
}
