//! The lines of a trace.

use serde::Serialize;
use serde_json::Value;

/// The first line.
#[derive(Debug, Serialize)]
pub(super) struct Header<'a> {
    pub(super) format: &'static str,
    pub(super) version: &'static str,
    pub(super) program: &'static str,
    pub(super) title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<&'a str>,
    pub(super) versions: Versions,
}

/// The versions that a server has.
#[derive(Debug, Serialize)]
pub(super) struct Versions {
    pub(super) kubernetes: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct ActorLine<'a> {
    pub(super) actor: usize,
    pub(super) name: &'a str,
    pub(super) role: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct ObjectLine<'a> {
    pub(super) object: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) kind: &'a str,
    pub(super) resource: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) owner: Option<usize>,
}

#[derive(Debug, Serialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "t")]
    pub(super) micros: u64,
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    pub(super) actor: Option<usize>,
    #[serde(flatten)]
    pub(super) kind: EventKind<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "k", rename_all = "lowercase")]
pub(super) enum EventKind<'a> {
    Phase {
        say: &'a str,
    },
    Change {
        #[serde(rename = "o")]
        object: usize,
        #[serde(rename = "r")]
        revision: u64,
        #[serde(flatten)]
        state: NewState,
    },
    Request {
        #[serde(rename = "q")]
        request: usize,
        verb: &'a str,
        say: &'a str,
    },
    /// Without a code, the request has no response.
    Answer {
        #[serde(rename = "q")]
        request: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<u16>,
    },
    /// The body of an answer ended.
    End {
        #[serde(rename = "q")]
        request: usize,
        how: Ending,
    },
    Fault {
        #[serde(rename = "f")]
        fault: u64,
        say: &'a str,
    },
    Heal {
        #[serde(rename = "f")]
        fault: u64,
    },
}

/// The state of an object after a change.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NewState {
    /// The whole object.
    New(Value),
    /// The difference to the version before as a merge patch, without the version.
    Merge(Value),
    /// The difference as a JSON patch, likewise.
    Patch(Value),
    /// The object was deleted.
    Gone(bool),
}

/// The end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ending {
    /// Complete.
    Clean,
    /// Broken off by the server.
    Broken,
    /// Dropped by the client.
    Dropped,
}

/// The last line of a run that ended in good order.
#[derive(Debug, Serialize)]
pub(super) struct End {
    pub(super) end: u64,
}
