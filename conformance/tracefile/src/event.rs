//! The events of a trace file.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event. Events are numbered from 0 in the order of their lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct Event {
    /// Microseconds since the run began.
    #[serde(rename = "t")]
    pub micros: u64,
    /// The number of the actor.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<usize>,
    /// The numbers of the events that it was decided on: the reads before a write.
    #[serde(rename = "from", default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<usize>,
    /// The rest.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The kind of an event, and what it is about. Objects and requests are named by their numbers, and lists are flat: an
/// object and a revision in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "k", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "docs/trace.md describes the fields")]
#[non_exhaustive]
pub enum EventKind {
    /// The run enters a phase.
    Phase { say: String },
    /// The workload performed an operation.
    Operation {
        say: String,
        code: u16,
        #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
    },
    /// The server changed an object.
    Change {
        #[serde(rename = "o")]
        object: usize,
        #[serde(rename = "r")]
        revision: u64,
        #[serde(flatten)]
        state: NewState,
    },
    /// A client sent a request.
    Request {
        #[serde(rename = "q")]
        request: usize,
        verb: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        say: String,
        #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
        object: Option<usize>,
    },
    /// A request was answered, or will not be: then there is no code.
    Answer {
        #[serde(rename = "q")]
        request: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<u16>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        say: String,
        #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
    },
    /// A list, or a page of it, arrived.
    Page {
        #[serde(rename = "q")]
        request: usize,
        #[serde(rename = "r")]
        revision: u64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        more: bool,
        list: Vec<u64>,
    },
    /// An event of a watch arrived.
    Frame {
        #[serde(rename = "q")]
        request: usize,
        #[serde(rename = "type")]
        change: String,
        #[serde(rename = "o")]
        object: usize,
        #[serde(rename = "r")]
        revision: u64,
    },
    /// A bookmark of a watch arrived.
    Bookmark {
        #[serde(rename = "q")]
        request: usize,
        #[serde(rename = "r")]
        revision: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        say: String,
    },
    /// The body of an answer ended.
    End {
        #[serde(rename = "q")]
        request: usize,
        how: Ending,
    },
    /// A client mirrors a selection from now on.
    Mirror(MirroredSelection),
    /// A client's cache changed: what it shows, and what it does not show any more.
    Belief {
        #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        set: Vec<u64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<usize>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        synced: Option<bool>,
    },
    /// A handler was notified.
    Notified {
        #[serde(rename = "o")]
        object: usize,
        #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
        how: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<u64>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        initial: bool,
    },
    /// An actor starts, or starts again.
    Start {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        say: String,
    },
    /// An actor stands still.
    Stop {
        how: Standstill,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        say: String,
    },
    /// A fault begins.
    Fault {
        #[serde(rename = "f")]
        fault: usize,
        say: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hits: Option<usize>,
    },
    /// A fault ends.
    Heal {
        #[serde(rename = "f")]
        fault: usize,
    },
    /// An actor leads.
    Lead {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        say: String,
    },
    /// An actor leads no more.
    Follow {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        say: String,
    },
    /// Anything else, in words.
    Note {
        say: String,
        #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
        object: Option<usize>,
        #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
    },
    /// A kind of a later version.
    #[serde(other)]
    Unknown,
}

/// The state of an object after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum NewState {
    /// The whole object.
    New(Value),
    /// The difference to the version before as a merge patch (RFC 7386), without the version of the object.
    Merge(Value),
    /// The difference as a JSON patch (RFC 6902), likewise.
    Patch(Value),
    /// There is no object any more.
    Gone(bool),
}

/// The end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Ending {
    /// Complete.
    Clean,
    /// Broken off.
    Broken,
    /// Dropped by the client.
    Dropped,
    /// There was no connection.
    Refused,
}

/// The manner in which an actor stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Standstill {
    /// It has ended, as it should.
    Stop,
    /// It has crashed: it knows nothing any more.
    Crash,
    /// It is paused.
    Pause,
}

/// A selection that a client mirrors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct MirroredSelection {
    /// The plural name of the resource, with its group if it has one.
    pub resource: String,
    /// The namespace; all if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The label selector, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct BrokenPromise {
    /// The name of the promise.
    #[serde(rename = "broken")]
    pub promise: String,
    /// The finding.
    #[serde(rename = "says")]
    pub finding: String,
    /// The promise in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The number of the event that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The numbers of the events that led there.
    #[serde(rename = "led", default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<usize>,
    /// True if a fault explains it.
    #[serde(
        rename = "excused",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_excused: bool,
}

// === impl Event ===

impl Event {
    /// Creates an event of an actor.
    pub fn new(at: Duration, actor: usize, kind: EventKind) -> Self {
        Self {
            micros: u64::try_from(at.as_micros()).unwrap_or(u64::MAX),
            actor: Some(actor),
            causes: Vec::new(),
            kind,
        }
    }

    /// Creates an event of the run itself.
    pub fn of_run(at: Duration, kind: EventKind) -> Self {
        Self {
            actor: None,
            ..Self::new(at, 0, kind)
        }
    }

    /// Sets the events that it was decided on.
    #[must_use]
    pub fn with_causes(mut self, causes: impl IntoIterator<Item = usize>) -> Self {
        self.causes = causes.into_iter().collect();
        self
    }

    /// Returns the time since the run began.
    pub fn at(&self) -> Duration {
        Duration::from_micros(self.micros)
    }
}

// === impl EventKind ===

impl EventKind {
    /// The names of all kinds that this version knows.
    pub const NAMES: [&str; 19] = [
        "phase",
        "operation",
        "change",
        "request",
        "answer",
        "page",
        "frame",
        "bookmark",
        "end",
        "mirror",
        "belief",
        "notified",
        "start",
        "stop",
        "fault",
        "heal",
        "lead",
        "follow",
        "note",
    ];

    /// Creates words about an actor.
    pub fn note(say: impl Into<String>) -> Self {
        Self::Note {
            say: say.into(),
            object: None,
            revision: None,
        }
    }

    /// Returns the name of the kind.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Phase { .. } => "phase",
            Self::Operation { .. } => "operation",
            Self::Change { .. } => "change",
            Self::Request { .. } => "request",
            Self::Answer { .. } => "answer",
            Self::Page { .. } => "page",
            Self::Frame { .. } => "frame",
            Self::Bookmark { .. } => "bookmark",
            Self::End { .. } => "end",
            Self::Mirror(_) => "mirror",
            Self::Belief { .. } => "belief",
            Self::Notified { .. } => "notified",
            Self::Start { .. } => "start",
            Self::Stop { .. } => "stop",
            Self::Fault { .. } => "fault",
            Self::Heal { .. } => "heal",
            Self::Lead { .. } => "lead",
            Self::Follow { .. } => "follow",
            Self::Note { .. } => "note",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the version of the object or of the answer, if it has one.
    pub const fn revision(&self) -> Option<u64> {
        match self {
            Self::Change { revision, .. }
            | Self::Page { revision, .. }
            | Self::Frame { revision, .. }
            | Self::Bookmark { revision, .. } => Some(*revision),
            Self::Operation { revision, .. }
            | Self::Answer { revision, .. }
            | Self::Belief { revision, .. }
            | Self::Notified { revision, .. }
            | Self::Note { revision, .. } => *revision,
            _ => None,
        }
    }

    /// Returns the number of the request, if it is about one.
    pub const fn request(&self) -> Option<usize> {
        match self {
            Self::Request { request, .. }
            | Self::Answer { request, .. }
            | Self::Page { request, .. }
            | Self::Frame { request, .. }
            | Self::Bookmark { request, .. }
            | Self::End { request, .. } => Some(*request),
            _ => None,
        }
    }

    /// Returns whether it is about an object, or shows it.
    pub fn shows(&self, wanted: usize) -> bool {
        let among = |list: &[u64]| pairs(list).any(|(object, _)| object == wanted);
        match self {
            Self::Change { object, .. }
            | Self::Frame { object, .. }
            | Self::Notified { object, .. } => *object == wanted,
            Self::Request { object, .. } | Self::Note { object, .. } => *object == Some(wanted),
            Self::Page { list, .. } => among(list),
            Self::Belief { set, gone, .. } => among(set) || gone.contains(&wanted),
            _ => false,
        }
    }
}

/// Returns the objects and revisions of a flat list.
pub fn pairs(list: &[u64]) -> impl Iterator<Item = (usize, u64)> {
    let (pairs, _) = list.as_chunks::<2>();
    pairs
        .iter()
        .map(|[object, revision]| (usize::try_from(*object).unwrap_or(usize::MAX), *revision))
}
