//! Events that are combined and limited before they are written, as client-go's recorder does it. A pure core.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

/// The number of different messages of one reason from which on they are combined.
const SIMILAR_MAX: usize = 10;
/// The time after which the count of similar events restarts.
const SIMILAR_FOR: SignedDuration = SignedDuration::from_mins(10);
/// The events about one object that are written at once, and the time after which there is one more.
const BURST: u32 = 25;
const REFILL: SignedDuration = SignedDuration::from_mins(5);
/// The number of different events about one object that are remembered. The least recently seen event is forgotten
/// first.
const KNOWN_MAX: usize = 64;
/// The beginning of a message that stands for others.
const COMBINED: &str = "(combined from similar events): ";

/// The recent events of one component, by the uid of what they are about.
///
/// # Memory
///
/// Up to 64 events and 10 messages for each reason of an object, until [`forget`](Self::forget).
#[derive(Debug, Default)]
pub struct Correlator(BTreeMap<String, ObjectEvents>);

/// The type, the reason and the message of an event.
#[derive(Clone, Copy, Debug)]
pub struct EventText<'a> {
    pub event_type: &'a str,
    pub reason: &'a str,
    pub message: &'a str,
    /// The part of the object that it is about; empty for the whole.
    pub field_path: &'a str,
}

/// An event that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenEvent {
    pub message: String,
    pub count: i64,
    pub first: Timestamp,
    /// The name of the event that has been written before, if one has.
    pub name: Option<String>,
    id: EventId,
}

/// The part of the object, the type and the reason of an event, and its message unless it stands for others.
type EventId = (String, String, String, Option<String>);

#[derive(Debug, Default)]
struct ObjectEvents {
    events: BTreeMap<EventId, KnownEvent>,
    similar: BTreeMap<(String, String), SimilarEvents>,
    limit: Option<Limit>,
}

#[derive(Debug)]
struct KnownEvent {
    name: Option<String>,
    count: i64,
    first: Timestamp,
    last: Timestamp,
}

#[derive(Debug)]
struct SimilarEvents {
    messages: BTreeSet<String>,
    last: Timestamp,
}

/// A token bucket for the events that may be written.
#[derive(Debug)]
struct Limit {
    left: u32,
    since: Timestamp,
}

// === impl EventText ===

impl<'a> EventText<'a> {
    pub fn normal(reason: &'a str, message: &'a str) -> Self {
        Self {
            event_type: "Normal",
            reason,
            message,
            field_path: "",
        }
    }

    /// Returns an event about a failure.
    pub fn warning(reason: &'a str, message: &'a str) -> Self {
        Self {
            event_type: "Warning",
            ..Self::normal(reason, message)
        }
    }

    /// Sets the field path of the object that the event is about.
    pub fn at(self, field_path: &'a str) -> Self {
        Self { field_path, ..self }
    }
}

// === impl Correlator ===

impl Correlator {
    /// Takes an event about an object, and returns the event to write, or `None` if the rate limit is exceeded.
    pub fn observe(
        &mut self,
        uid: &str,
        text: &EventText<'_>,
        now: Timestamp,
    ) -> Option<WrittenEvent> {
        let about = self.0.entry(uid.to_owned()).or_default();
        let (message, id) = about.aggregated(text, now);
        let event = about.events.entry(id.clone()).or_insert(KnownEvent {
            name: None,
            count: 0,
            first: now,
            last: now,
        });
        event.count += 1;
        event.last = now;
        let written = WrittenEvent {
            message,
            count: event.count,
            first: event.first,
            name: event.name.clone(),
            id,
        };
        about.forget_oldest();
        about.takes_one(now).then_some(written)
    }

    /// Notes the name under which an event has been written.
    pub fn name(&mut self, uid: &str, written: &WrittenEvent, name: &str) {
        let about = self.0.get_mut(uid);
        if let Some(event) = about.and_then(|about| about.events.get_mut(&written.id)) {
            event.name = Some(name.to_owned());
        }
    }

    /// Forgets the events about an object.
    pub fn forget(&mut self, uid: &str) {
        self.0.remove(uid);
    }
}

// === impl ObjectEvents ===

impl ObjectEvents {
    /// Returns the message and the id of an event. Similar events share both once there are many of them.
    fn aggregated(&mut self, text: &EventText<'_>, now: Timestamp) -> (String, EventId) {
        let (event_type, reason) = (text.event_type.to_owned(), text.reason.to_owned());
        let part = text.field_path.to_owned();
        let key = (event_type.clone(), reason.clone());
        let similar = self.similar.entry(key).or_insert(SimilarEvents {
            messages: BTreeSet::new(),
            last: now,
        });
        if now.duration_since(similar.last) > SIMILAR_FOR {
            similar.messages.clear();
        }
        similar.last = now;
        similar.messages.insert(text.message.to_owned());
        if similar.messages.len() < SIMILAR_MAX {
            let message = text.message.to_owned();
            return (message.clone(), (part, event_type, reason, Some(message)));
        }
        similar.messages.pop_first();
        let message = format!("{COMBINED}{}", text.message);
        (message, (part, event_type, reason, None))
    }

    fn forget_oldest(&mut self) {
        if self.events.len() <= KNOWN_MAX {
            return;
        }
        let oldest = self.events.iter().min_by_key(|(_, event)| event.last);
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.events.remove(&id);
        }
    }

    /// Takes a token of the rate limit, and returns whether there was one.
    fn takes_one(&mut self, now: Timestamp) -> bool {
        let limit = self.limit.get_or_insert(Limit {
            left: BURST,
            since: now,
        });
        let elapsed = now.duration_since(limit.since).as_secs().max(0);
        let more = elapsed / REFILL.as_secs();
        limit.left = BURST.min(
            limit
                .left
                .saturating_add(u32::try_from(more).unwrap_or(BURST)),
        );
        limit.since = if limit.left == BURST {
            now
        } else {
            limit.since + SignedDuration::from_secs(more * REFILL.as_secs())
        };
        let is_left = limit.left > 0;
        limit.left -= u32::from(is_left);
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "1";

    fn text(message: &str) -> EventText<'_> {
        EventText::warning("Failed", message)
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn the_same_event_is_counted() {
        let mut correlator = Correlator::default();
        let first = correlator.observe(UID, &text("a"), at(0)).unwrap();
        assert_eq!((first.count, first.name.as_deref()), (1, None));
        correlator.name(UID, &first, "e");
        let second = correlator.observe(UID, &text("a"), at(15)).unwrap();
        assert_eq!((second.count, second.first), (2, at(0)));
        assert_eq!(second.name.as_deref(), Some("e"));
        assert_eq!(
            correlator.observe("2", &text("a"), at(15)).unwrap().count,
            1
        );
        correlator.forget(UID);
        assert_eq!(
            correlator.observe(UID, &text("a"), at(15)).unwrap().count,
            1
        );
    }

    #[test]
    fn many_similar_events_become_one() {
        let mut correlator = Correlator::default();
        let mut observe = |message: &str, seconds| {
            correlator
                .observe(UID, &text(message), at(seconds))
                .map(|written| (written.message, written.count))
        };
        for index in 0..9 {
            let message = index.to_string();
            assert_eq!(observe(&message, index), Some((message, 1)));
        }
        let combined = |message: &str, count| Some((format!("{COMBINED}{message}"), count));
        assert_eq!(observe("x", 10), combined("x", 1));
        assert_eq!(observe("y", 11), combined("y", 2));
        assert_eq!(observe("z", 700), Some(("z".to_owned(), 1)));
    }

    #[test]
    fn too_many_events_are_counted_and_not_written() {
        let mut correlator = Correlator::default();
        let mut observe = |seconds| {
            let written = correlator.observe(UID, &text("a"), at(seconds));
            written.map(|written| written.count)
        };
        for count in 1..=25 {
            assert_eq!(observe(0), Some(count));
        }
        assert_eq!(observe(1), None);
        assert_eq!(observe(299), None);
        assert_eq!(observe(300), Some(28));
        assert_eq!(observe(301), None);
        assert_eq!(observe(600), Some(30));
        assert_eq!(observe(100_000), Some(31));
    }

    #[test]
    fn memory_is_bounded() {
        let mut correlator = Correlator::default();
        let reasons: Vec<String> = (0..200).map(|index| format!("r{index}")).collect();
        for (second, reason) in (0..).zip(&reasons) {
            correlator.observe(UID, &EventText::warning(reason, "a"), at(second));
        }
        assert_eq!(correlator.0[UID].events.len(), KNOWN_MAX);
        assert!(
            correlator.0[UID]
                .events
                .keys()
                .all(|(_, _, reason, _)| *reason != "r0")
        );
    }
}
