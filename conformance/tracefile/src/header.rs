//! The lines of a trace file that are no events: its header, and the declarations of actors and objects.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name of the format.
pub(super) const FORMAT: &str = "conformance-trace";
/// The version that is written.
pub(super) const VERSION: &str = "1.0";
/// The versions that are read: all with this number before the dot.
pub(super) const MAJOR: &str = "1";

/// The first line: the run that the file is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The name of the format.
    pub format: String,
    /// The version of the format.
    pub version: String,
    /// The program that wrote the file.
    pub program: String,
    /// The run, in a few words.
    pub title: String,
    /// The seed, if the run follows from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The command or the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The line that runs it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The versions of programs and libraries.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

/// Somebody who does something in a run. Actors are numbered from 0 in the order of their lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Actor {
    /// Its number.
    pub actor: usize,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The number of the actor that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

/// The role of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The server.
    Server,
    /// The harness: the workload and the run itself.
    Harness,
    /// A client with a cache.
    Client,
    /// A handler of a client.
    Handler,
    /// A controller.
    Controller,
    /// A candidate of an election.
    Candidate,
    /// A process.
    Process,
    /// A role of a later version.
    #[serde(other)]
    Other,
}

/// An object: one uid. Objects are numbered from 0 in the order of their lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct ObjectName {
    /// The kind; empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The plural name of the resource, with its group if it has one.
    pub resource: String,
    /// The namespace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
    /// The uid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

// === impl Header ===

impl Header {
    /// Creates the header of a run, with the version of this program.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION.to_owned(),
            program: concat!("conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
            title: title.into(),
            seed: None,
            command: None,
            replay: None,
            versions: versions(),
        }
    }

    /// Sets the seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the command.
    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// Sets the line that runs it again.
    #[must_use]
    pub fn with_replay(mut self, replay: impl Into<String>) -> Self {
        self.replay = Some(replay.into());
        self
    }
}

/// Returns the versions of this workspace's packages, which have one, and of what the server is like.
fn versions() -> BTreeMap<String, String> {
    let own = env!("CARGO_PKG_VERSION");
    let all = [
        ("fakeserver", own),
        ("informer", own),
        ("kubernetes", "1.36"),
    ];
    all.map(|(name, version)| (name.to_owned(), version.to_owned()))
        .into()
}

// === impl ObjectName ===

impl ObjectName {
    /// Returns the namespace, if there is one, and the name.
    pub fn key(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the resource and the key, for people.
    pub fn title(&self) -> String {
        format!("{} {}", self.resource, self.key())
    }
}
