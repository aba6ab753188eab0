//! The pure core of a recorder: combines similar events, counts equal ones, and limits those about one object.
//!
//! The steps are those of client-go's `EventCorrelator`, in its order: an event that has many similar ones becomes a combined
//! one, then it is counted, and then the limit decides whether it is written. An event that the limit drops is counted all the
//! same, so that the next one that is written shows how many there were.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use tokio::time::Instant;

use super::{EventRecorderOptions, EventType, lru::Lru};
use crate::entropy::fnv1a;

/// The beginning of the message of a combined event.
const COMBINED: &str = "(combined from similar events): ";
/// The namespace of events about objects that have none.
const DEFAULT_NAMESPACE: &str = "default";
/// The longest name of an object.
const NAME_LEN_MAX: usize = 253;

/// An event as the caller tells it.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    pub(super) object: ObjectReference,
    pub(super) type_: EventType,
    pub(super) reason: String,
    pub(super) message: String,
    /// The moment for windows and limits.
    pub(super) at: Instant,
    /// The moment for people to read.
    pub(super) time: Timestamp,
}

/// An event as the server shall have it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) object: ObjectReference,
    pub(super) type_: EventType,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) count: i32,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
}

/// The way in which an event reaches the server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision {
    /// As an object of its own.
    Create(Record),
    /// As the count, the last time and the message of an object that was created before.
    Patch(Record),
    /// Not at all: there are too many of this type about the object.
    Drop,
}

/// Decides how events reach the server, from what it remembers of earlier ones.
#[derive(Debug)]
pub(super) struct Correlator {
    groups: Lru<Arc<Group>, SimilarMessages>,
    logged: Lru<CorrelatedEvent, Log>,
    buckets: Lru<Arc<Subject>, Bucket>,
    aggregate_from: usize,
    aggregate_interval: Duration,
    refill_interval: Duration,
    /// The largest credit of a bucket.
    credit_max: Duration,
    last_name: i128,
}

/// The object and the type of events, which share a limit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    api_version: Option<String>,
    type_: EventType,
}

/// The part of an event that is equal in similar ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    subject: Arc<Subject>,
    reason: String,
}

/// An event that is counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CorrelatedEvent {
    Combined(Arc<Group>),
    Single {
        group: Arc<Group>,
        field_path: Option<String>,
        message: Arc<str>,
    },
}

/// The messages of similar events.
#[derive(Debug)]
struct SimilarMessages {
    messages: BTreeSet<Arc<str>>,
    last: Instant,
}

/// The object on the server that counts an event.
#[derive(Debug)]
struct Log {
    name: String,
    first: Timestamp,
    count: i32,
}

/// A token bucket: each event costs one refill interval of credit, which comes back with time.
#[derive(Debug)]
struct Bucket {
    credit: Duration,
    at: Instant,
}

// === impl Correlator ===

impl Correlator {
    pub(super) fn new(options: &EventRecorderOptions) -> Self {
        Self {
            groups: Lru::new(options.remembered_max),
            logged: Lru::new(options.remembered_max),
            buckets: Lru::new(options.remembered_max),
            aggregate_from: options.aggregate_from.max(1),
            aggregate_interval: options.aggregate_interval,
            refill_interval: options.refill_interval,
            credit_max: options.refill_interval.saturating_mul(options.burst),
            last_name: i128::MIN,
        }
    }

    /// Decides how `event` reaches the server.
    pub(super) fn correlate(&mut self, event: Occurrence) -> Decision {
        let subject = Arc::new(Subject::of(&event));
        let (key, message) = self.aggregate(&subject, &event);
        let last_name = &mut self.last_name;
        let log = self.logged.get_or_insert_with(&key, || Log {
            name: new_name(&event, last_name),
            first: event.time,
            count: 0,
        });
        log.count = log.count.saturating_add(1);
        let record = Record {
            namespace: namespace(&event.object),
            name: log.name.clone(),
            object: event.object,
            type_: event.type_,
            reason: event.reason,
            message,
            count: log.count,
            first: log.first,
            last: event.time,
        };
        let (at, credit) = (event.at, self.credit_max);
        let bucket = self
            .buckets
            .get_or_insert_with(&subject, || Bucket { credit, at });
        if !bucket.take(at, self.refill_interval, self.credit_max) {
            Decision::Drop
        } else if record.count == 1 {
            Decision::Create(record)
        } else {
            Decision::Patch(record)
        }
    }

    /// Returns what `event` is counted as, and its message.
    fn aggregate(
        &mut self,
        subject: &Arc<Subject>,
        event: &Occurrence,
    ) -> (CorrelatedEvent, String) {
        let group = Arc::new(Group {
            subject: Arc::clone(subject),
            reason: event.reason.clone(),
        });
        let similar = self.groups.get_or_insert_with(&group, || SimilarMessages {
            messages: BTreeSet::new(),
            last: event.at,
        });
        if event.at.saturating_duration_since(similar.last) > self.aggregate_interval {
            similar.messages.clear();
        }
        similar.last = similar.last.max(event.at);
        let message: Arc<str> = event.message.as_str().into();
        // The messages that have events of their own keep them.
        if similar.messages.contains(&message) || similar.messages.len() + 1 < self.aggregate_from {
            similar.messages.insert(Arc::clone(&message));
            let field_path = event.object.field_path.clone();
            let single = CorrelatedEvent::Single {
                group,
                field_path,
                message,
            };
            (single, event.message.clone())
        } else {
            let message = format!("{COMBINED}{}", event.message);
            (CorrelatedEvent::Combined(group), message)
        }
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> [usize; 3] {
        [self.groups.len(), self.logged.len(), self.buckets.len()]
    }
}

// === impl Subject ===

impl Subject {
    fn of(event: &Occurrence) -> Self {
        let object = event.object.clone();
        Self {
            kind: object.kind,
            namespace: object.namespace,
            name: object.name,
            uid: object.uid,
            api_version: object.api_version,
            type_: event.type_,
        }
    }
}

// === impl Bucket ===

impl Bucket {
    /// Takes the cost of one event, if there is as much.
    fn take(&mut self, now: Instant, cost: Duration, credit_max: Duration) -> bool {
        let earned = now.saturating_duration_since(self.at);
        self.at = self.at.max(now);
        self.credit = self.credit.saturating_add(earned).min(credit_max);
        match self.credit.checked_sub(cost) {
            Some(credit) => {
                self.credit = credit;
                true
            }
            None => false,
        }
    }
}

/// Returns the name of a new event: that of its object, and its time in nanoseconds, or later than `last`.
fn new_name(event: &Occurrence, last: &mut i128) -> String {
    let suffix = event.time.as_nanosecond().max(last.saturating_add(1));
    *last = suffix;
    let object = event.object.name.as_deref().unwrap_or_default();
    let name = format!("{object}.{suffix:x}");
    if is_subdomain(object) && name.len() <= NAME_LEN_MAX {
        name
    } else {
        // Some kinds have names that an event cannot have, such as `system:node` of a role.
        format!("event-{:016x}.{suffix:x}", fnv1a(object))
    }
}

/// Returns the namespace of events about an object.
fn namespace(object: &ObjectReference) -> String {
    let namespace = object.namespace.as_deref().unwrap_or_default();
    if namespace.is_empty() {
        DEFAULT_NAMESPACE.to_owned()
    } else {
        namespace.to_owned()
    }
}

/// Returns whether a name can be the beginning of the name of an event.
fn is_subdomain(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.split('.').all(|label| {
        let bytes = label.as_bytes();
        let is_ended = |byte: Option<&u8>| byte.is_some_and(|byte| is_inner(*byte));
        is_ended(bytes.first())
            && is_ended(bytes.last())
            && bytes.iter().all(|byte| is_inner(*byte) || *byte == b'-')
    })
}
