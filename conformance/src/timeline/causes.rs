//! The events that led to another one: of the same object and the same informer, or of the same participant.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    participants::Participants,
    trace::Concern,
    tracefile::{Event, EventKind},
};

/// The maximal number of causes of an event.
const LED_MAX: usize = 6;

/// The events of a run that may have led to others.
#[derive(Default)]
pub(super) struct Causes {
    events: Vec<PossibleCause>,
    /// The objects of each key.
    objects: BTreeMap<String, BTreeSet<usize>>,
    /// The informer of each actor that is one, or its handler.
    informers: BTreeMap<usize, usize>,
    /// The parts of a participant that each of its actors concerns.
    concerns: BTreeMap<usize, Concern>,
}

/// An event that may have led to another one.
struct PossibleCause {
    number: usize,
    step: Step,
    objects: Vec<usize>,
    informer: Option<usize>,
    /// The parts of a participant that it concerns, if it is one of its events.
    concern: Option<Concern>,
}

/// The steps of an object from the server to a handler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Fault,
    Changed,
    Delivered,
    Believed,
    Notified,
    Asked,
}

// === impl Causes ===

impl Causes {
    /// Remembers the key of an object.
    pub(super) fn is_called(&mut self, object: usize, key: &str) {
        self.objects
            .entry(key.to_owned())
            .or_default()
            .insert(object);
    }

    /// Remembers the informer of an actor.
    pub(super) fn is_informer(&mut self, actor: usize, informer: usize) {
        self.informers.insert(actor, informer);
    }

    /// Remembers what an actor of a participant concerns.
    pub(super) fn concerns(&mut self, actor: usize, concern: Concern) {
        self.concerns.insert(actor, concern);
    }

    /// Remembers a change of the server.
    pub(super) fn changed(&mut self, number: usize, object: usize) {
        self.events.push(PossibleCause {
            number,
            step: Step::Changed,
            objects: vec![object],
            informer: None,
            concern: None,
        });
    }

    /// Remembers an event, if it may lead to others.
    pub(super) fn take(&mut self, number: usize, event: &Event, requests: &BTreeMap<usize, usize>) {
        let every_second = |list: &[u64]| -> Vec<usize> {
            let objects = list.iter().step_by(2);
            objects
                .map(|object| usize::try_from(*object).unwrap_or(usize::MAX))
                .collect()
        };
        let mut actor = event.actor;
        let concern = actor.and_then(|actor| self.concerns.get(&actor).copied());
        let (step, objects) = match &event.kind {
            EventKind::Fault { hits, .. } => {
                actor = *hits;
                (Step::Fault, Vec::new())
            }
            EventKind::Page { list, .. } => (Step::Delivered, every_second(list)),
            EventKind::Frame { object, .. } => (Step::Delivered, vec![*object]),
            EventKind::Belief { set, gone, .. } => {
                let objects = every_second(set).into_iter().chain(gone.iter().copied());
                (Step::Believed, objects.collect())
            }
            EventKind::Notified { object, .. } => (Step::Notified, vec![*object]),
            EventKind::Request { .. } => (Step::Asked, Vec::new()),
            EventKind::Answer { .. } if concern.is_some() => (Step::Delivered, Vec::new()),
            EventKind::Lead { .. } | EventKind::Follow { .. } => (Step::Believed, Vec::new()),
            EventKind::Note { .. } if concern == Some(Concern::All) => (Step::Changed, Vec::new()),
            _ => return,
        };
        let own = actor.and_then(|actor| self.informers.get(&actor));
        let request = event.kind.request();
        let asker = request.and_then(|request| requests.get(&request));
        self.events.push(PossibleCause {
            number,
            step,
            objects,
            informer: own.or(asker).copied(),
            concern,
        });
    }

    /// Returns the last read of each object that a request of an informer names.
    pub(super) fn read_before(&self, informer: usize, text: &str) -> Vec<usize> {
        let named = self.named(text);
        let last = self.events.iter().rev().find(|events| {
            events.step == Step::Delivered
                && events.informer == Some(informer)
                && events.objects.iter().any(|object| named.contains(object))
        });
        last.map(|events| events.number).into_iter().collect()
    }

    /// Returns the last event before the one of this number that is of the informer that a finding is about.
    pub(super) fn last_of(
        &self,
        finding: &str,
        before: usize,
        asker: impl Fn(usize) -> Option<usize>,
    ) -> Option<usize> {
        let informer = informer_of(finding, asker)?;
        let mut events = self.events.iter().rev();
        let last =
            events.find(|events| events.number < before && events.informer == Some(informer));
        last.map(|events| events.number)
    }

    /// Returns the events that led to the one at `at`, in order: the last of each step of the objects that the finding or
    /// the event names, as far as they concern its informer.
    pub(super) fn of(
        &self,
        at: Option<usize>,
        finding: &str,
        asker: impl Fn(usize) -> Option<usize>,
    ) -> Vec<usize> {
        let end = at.unwrap_or(usize::MAX);
        if let Some(concern) = Participants::concern(finding) {
            return self.of_participant(end, concern);
        }
        let last = self.events.iter().rev().find(|events| events.number == end);
        let mut objects = self.named(finding);
        if objects.is_empty() {
            objects.extend(
                last.iter()
                    .filter_map(|events| events.objects.first().copied()),
            );
        }
        let informer = informer_of(finding, asker).or(last.and_then(|events| events.informer));
        if objects.is_empty() && informer.is_none() {
            // Whatever came last has nothing to do with it.
            return Vec::new();
        }
        let mut led = BTreeMap::new();
        let events = self.events.iter().rev();
        for events in events.filter(|events| events.number < end && events.concern.is_none()) {
            let is_of_informer =
                informer.is_none() || events.informer.is_none() || events.informer == informer;
            let is_of_object = match events.step {
                Step::Fault => true,
                Step::Asked => objects.is_empty(),
                _ => events.objects.iter().any(|object| objects.contains(object)),
            };
            if is_of_informer && is_of_object {
                led.entry(events.step).or_insert(events.number);
            }
            if led.len() == LED_MAX {
                break;
            }
        }
        let led: BTreeSet<usize> = led.into_values().collect();
        led.into_iter().collect()
    }

    /// Returns the last of each step of one part of a participant, and of what concerns all of them.
    fn of_participant(&self, end: usize, concern: Concern) -> Vec<usize> {
        let mut led = BTreeMap::new();
        for events in self
            .events
            .iter()
            .rev()
            .filter(|events| events.number < end)
        {
            let Some(own) = events.concern else {
                continue;
            };
            if [own, concern].contains(&Concern::All) || own == concern {
                led.entry(events.step).or_insert(events.number);
            }
        }
        let led: BTreeSet<usize> = led.into_values().collect();
        led.into_iter().collect()
    }

    /// Returns the objects whose keys, or names in a path, are words of a text.
    fn named(&self, text: &str) -> BTreeSet<usize> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-./".contains(letter);
        let words: BTreeSet<&str> = text
            .split(|letter| !is_part(letter))
            .map(|word| word.trim_end_matches('.'))
            .collect();
        let paths: BTreeSet<&str> = words
            .iter()
            .filter_map(|word| word.rsplit('/').next())
            .collect();
        let is_path = text.contains(" /api");
        let named = self.objects.iter().filter(|(key, _)| {
            let name = key.rsplit('/').next().unwrap_or_default();
            words.contains(key.as_str()) || (is_path && paths.contains(name))
        });
        named
            .flat_map(|(_, objects)| objects.iter().copied())
            .collect()
    }
}

/// Returns the informer that a finding is about.
fn informer_of(finding: &str, asker: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let words: Vec<&str> = finding.split(' ').collect();
    words.windows(2).find_map(|pair| {
        let [what, number] = pair else {
            return None;
        };
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        let number: usize = digits.parse().ok()?;
        match *what {
            "cache" | "informer" | "handler" | "controller" => Some(number),
            "frame" | "request" | "page" | "answer" => asker(number),
            _ => None,
        }
    })
}
