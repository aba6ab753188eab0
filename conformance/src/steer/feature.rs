//! The features of a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Display, Formatter},
};

use crate::{
    checkers::CHECKERS,
    trace::{ElectionEvent, Observation, Trace},
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
    /// Events of these names about one candidate followed each other.
    Election(&'static str, &'static str),
}

/// The features that a run reached, and its cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reached {
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
    /// The last event of each candidate, and of the lease.
    last_events: BTreeMap<Option<usize>, &'static str>,
}

// === impl Reached ===

impl Reached {
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

// === impl Collector ===

impl Collector {
    fn take(&mut self, observation: &Observation) {
        for checker in CHECKERS {
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
            Observation::Election(event) => self.event(event),
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

    fn event(&mut self, event: &ElectionEvent) {
        let Some((candidate, name)) = named(event) else {
            return;
        };
        // Writes of others concern all candidates.
        let before = self.last_events.insert(candidate, name);
        if let Some(before) = before.or_else(|| self.last_events.get(&None).copied()) {
            self.features.insert(Feature::Election(before, name));
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

/// Returns the name of an event of an election, and its candidate; `None` for an event that says nothing new.
fn named(event: &ElectionEvent) -> Option<(Option<usize>, &'static str)> {
    Some(match event {
        ElectionEvent::Stands { candidacy } => (Some(candidacy.candidate), "stands"),
        ElectionEvent::Leads { candidacy, .. } => (Some(candidacy.candidate), "leads"),
        ElectionEvent::Lost { candidacy } => (Some(candidacy.candidate), "has lost"),
        ElectionEvent::GaveUp { candidacy } => (Some(candidacy.candidate), "has given up"),
        ElectionEvent::Stops { candidacy, .. } => (Some(candidacy.candidate), "stops"),
        ElectionEvent::Answered {
            candidacy, status, ..
        } => {
            let name = match status {
                None => "no answer",
                Some(200..400) => "success",
                Some(404) => "no lease",
                Some(409) => "conflict",
                Some(429) => "throttled",
                Some(500..) => "server error",
                Some(_) => "refused",
            };
            (Some(candidacy.candidate), name)
        }
        ElectionEvent::LeaseChanged { before, after, .. } => {
            let holder = |lease: &Option<_>| {
                let lease: Option<&crate::trace::LeaseState> = lease.as_ref();
                lease.map(|lease| lease.holder.clone())
            };
            let name = match (holder(before), holder(after)) {
                (_, None) => "lease deleted",
                (None, _) => "lease created",
                (Some(before), Some(after)) if before == after => "lease renewed",
                (_, Some(after)) if after.is_empty() => "lease released",
                _ => "lease taken",
            };
            (None, name)
        }
        ElectionEvent::Meddled { .. } => (None, "written by others"),
        _ => return None,
    })
}

impl Display for Feature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transition(made, power) => write!(f, "{made}, 2^{power} times"),
            Self::Occasion(checker, power) => write!(f, "occasion of {checker}, 2^{power} times"),
            Self::Pair(before, made) => write!(f, "{before}; then {made}"),
            Self::Under(fault, made) => write!(f, "{made}; under {fault}"),
            Self::Together(first, second) => write!(f, "{first} and {second} together"),
            Self::Election(before, event) => write!(f, "election: {before}; then {event}"),
        }
    }
}
