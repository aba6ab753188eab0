//! Belief and truth at an instant of a trace file.

use std::collections::{BTreeMap, BTreeSet};

use informer::{LabelSelector, Labels};
use serde::Serialize;
use serde_json::Value;
use tracefile::{Event, EventKind, MirroredSelection, Standstill, TraceFile, applied, pairs};

/// The state after an event: what the server has, and what each client holds.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct State {
    /// Microseconds since the run began.
    #[serde(rename = "t")]
    pub micros: u64,
    /// The number of the event.
    pub event: usize,
    /// The revision of the server.
    pub revision: u64,
    /// The clients that mirror something, or held something.
    pub clients: Vec<Client>,
}

/// A client's cache, beside what the server has in its selection.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Client {
    /// Its name.
    pub actor: String,
    /// The version of its cache, as it tells it.
    pub revision: Option<u64>,
    /// Each object of either, in order of their numbers.
    pub objects: Vec<Belief>,
}

/// A client's belief about an object, and the truth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Belief {
    /// The number of the object.
    pub object: usize,
    /// Its resource and name.
    pub name: String,
    /// The version that the client holds.
    pub believed: Option<u64>,
    /// The version that the server has, if it is in the client's selection.
    #[serde(rename = "true")]
    pub truth: Option<u64>,
}

/// The objects of a server, and the caches of its clients, as events change them.
#[derive(Default)]
struct Fold {
    revision: u64,
    objects: BTreeMap<usize, (u64, Value)>,
    caches: BTreeMap<usize, Cache>,
}

#[derive(Default)]
struct Cache {
    revision: Option<u64>,
    holds: BTreeMap<usize, u64>,
    mirrors: Vec<(MirroredSelection, LabelSelector)>,
}

// === impl State ===

impl State {
    /// Returns the state after all events up to a time, which is in microseconds.
    ///
    /// # Errors
    ///
    /// The file contradicts itself.
    pub fn at(file: &TraceFile, micros: u64) -> Result<Self, String> {
        let count = file.events.partition_point(|event| event.micros <= micros);
        Self::after(file, count.saturating_sub(1))
    }

    /// Returns the state after the event of this number.
    ///
    /// # Errors
    ///
    /// The file contradicts itself.
    pub fn after(file: &TraceFile, number: usize) -> Result<Self, String> {
        let mut fold = Fold::default();
        // All clients are listed from the beginning.
        for event in &file.events {
            if matches!(event.kind, EventKind::Mirror(_) | EventKind::Belief { .. }) {
                fold.cache(event);
            }
        }
        for (place, event) in file.events.iter().enumerate().take(number + 1) {
            fold.apply(event)
                .map_err(|error| format!("event {place}: {error}"))?;
        }
        let clients = fold.caches.iter();
        Ok(Self {
            micros: file.events.get(number).map_or(0, |event| event.micros),
            event: number,
            revision: fold.revision,
            clients: clients
                .map(|(actor, cache)| Client {
                    actor: file.actor_name(Some(*actor)).to_owned(),
                    revision: cache.revision,
                    objects: fold.beliefs(file, cache),
                })
                .collect(),
        })
    }
}

// === impl Fold ===

impl Fold {
    fn apply(&mut self, event: &Event) -> Result<(), String> {
        match &event.kind {
            EventKind::Change {
                object,
                revision,
                state,
            } => {
                self.revision = *revision;
                let before = self.objects.remove(object);
                let before = before.as_ref().map(|(_, value)| value);
                if let Some(after) = applied(before, state, *revision)? {
                    self.objects.insert(*object, (*revision, after));
                }
            }
            EventKind::Belief {
                revision,
                set,
                gone,
                ..
            } => {
                let cache = self.cache(event);
                cache.revision = revision.or(cache.revision);
                cache.holds.extend(pairs(set));
                cache.holds.retain(|object, _| !gone.contains(object));
            }
            EventKind::Mirror(mirrored) => {
                let selector = mirrored.selector.as_deref().unwrap_or_default();
                let selector: LabelSelector = selector
                    .parse()
                    .map_err(|error| format!("`{selector}` is no label selector: {error}"))?;
                let mirrored = mirrored.clone();
                self.cache(event).mirrors.push((mirrored, selector));
            }
            EventKind::Stop {
                how: Standstill::Crash,
                ..
            } => {
                let actor = event.actor.unwrap_or_default();
                if let Some(cache) = self.caches.get_mut(&actor) {
                    *cache = Cache::default();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn cache(&mut self, event: &Event) -> &mut Cache {
        self.caches
            .entry(event.actor.unwrap_or_default())
            .or_default()
    }

    fn beliefs(&self, file: &TraceFile, cache: &Cache) -> Vec<Belief> {
        let mirrored = self
            .objects
            .iter()
            .filter(|(object, (_, value))| cache.mirrors(file, **object, value));
        let mirrored: BTreeMap<usize, u64> = mirrored
            .map(|(object, (revision, _))| (*object, *revision))
            .collect();
        let objects: BTreeSet<usize> = mirrored.keys().chain(cache.holds.keys()).copied().collect();
        let objects = objects.into_iter();
        objects
            .map(|object| Belief {
                object,
                name: file.object_title(object),
                believed: cache.holds.get(&object).copied(),
                truth: mirrored.get(&object).copied(),
            })
            .collect()
    }
}

// === impl Cache ===

impl Cache {
    /// Returns whether an object is in a selection that the client mirrors.
    fn mirrors(&self, file: &TraceFile, object: usize, value: &Value) -> bool {
        let Some(name) = file.objects.get(object) else {
            return false;
        };
        let labels = value["metadata"]["labels"].as_object();
        let labels: Labels = labels
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
            .collect();
        self.mirrors.iter().any(|(mirrored, selector)| {
            mirrored.resource == name.resource
                && (mirrored.namespace.is_none() || mirrored.namespace == name.namespace)
                && selector.matches(&labels)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belief_and_truth_at_an_instant() {
        let example = include_str!("../data/trace/example.jsonl");
        let file = TraceFile::read(example).unwrap();
        let at = |micros| {
            let state = State::at(&file, micros).unwrap();
            let client = state
                .clients
                .iter()
                .find(|client| client.actor == "informer 0");
            let objects = client.unwrap().objects.iter();
            let objects: Vec<_> = objects.map(|it| (it.believed, it.truth)).collect();
            (state.revision, objects)
        };
        assert_eq!(at(2_900), (2, vec![(None, Some(2))]));
        assert_eq!(at(4_999), (2, vec![(Some(2), Some(2))]));
        assert_eq!(at(6_000), (4, vec![(Some(3), Some(4))]));
        assert_eq!(at(8_000), (6, vec![(Some(3), None)]));
        assert_eq!(at(9_500), (6, Vec::new()));
    }
}
