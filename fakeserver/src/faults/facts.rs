//! What a rule knows of a request and of a frame.

use std::time::Duration;

use crate::status::Named;

/// The verb of a question about what the server has.
pub(super) const DISCOVER: &str = "discover";

/// A request, before it is served.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestFacts {
    /// Who asks: the `User-Agent` up to the first `/`.
    pub client: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or `discover` for a question
    /// about what the server has: then there is a group and a version, or neither, and no resource.
    pub verb: &'static str,
    /// The API group, empty for the core.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The plural name of the resource.
    pub resource: String,
    /// `status` and the like.
    pub subresource: Option<String>,
    /// The namespace in the path.
    pub namespace: Option<String>,
    /// The name in the path.
    pub name: Option<String>,
    /// The parameter `resourceVersion`, empty where there is none.
    pub resource_version: String,
    /// Whether it is a watch that asks for its initial events and their end.
    pub is_watch_list: bool,
    /// Whether it goes on with a paged list.
    pub has_continue: bool,
    /// Where a paged list goes on: the parameter `continue`, empty where there is none.
    pub continue_token: String,
    /// The user as whom it is made.
    pub user: String,
    /// The revision at which the server stood when it came.
    pub revision: u64,
}

/// What kind of event a frame brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the wire has these five"
)]
#[expect(missing_docs, reason = "they are the words of the wire")]
pub enum EventType {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
}

/// A frame of a watch, before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameFacts<'a> {
    /// The watch that it belongs to.
    pub watch: &'a RequestFacts,
    /// Which frame of its stream it is, from 0.
    pub index: u64,
    /// What it brings.
    pub event: EventType,
    /// The version that a client has seen after it; that of the object, among initial events.
    pub revision: u64,
    /// Whether it belongs to the initial events, their end included.
    pub is_initial: bool,
    /// Whether it is the bookmark that ends the initial events.
    pub is_initial_events_end: bool,
    /// How many bytes it has.
    pub length: usize,
    /// The `apiVersion` of the objects in this stream.
    pub api_version: &'a str,
    /// The `kind` of the objects in this stream.
    pub kind: &'a str,
    /// How long ago the change was made that it brings; nothing for what is no change.
    pub age: Option<Duration>,
}

// === impl RequestFacts ===

impl RequestFacts {
    /// Whether it asks to change something.
    pub fn is_write(&self) -> bool {
        !matches!(self.verb, "get" | "list" | "watch" | DISCOVER)
    }

    /// The version that it asks about, if it names one.
    pub fn asked_version(&self) -> Option<u64> {
        self.resource_version
            .parse()
            .ok()
            .filter(|asked| *asked > 0)
    }

    /// What answers call the object, or the collection, that it is about.
    pub(super) fn named(&self) -> Named<'_> {
        Named {
            resource: &self.resource,
            group: &self.group,
            name: self.name.as_deref().unwrap_or_default(),
        }
    }
}

// === impl FrameFacts ===

impl<'a> FrameFacts<'a> {
    /// A frame of `watch` of so many bytes that brings `event`; all else is as for the first frame of a watch from a
    /// version, of objects whose kind nobody knows.
    pub fn new(watch: &'a RequestFacts, event: EventType, revision: u64, length: usize) -> Self {
        Self {
            watch,
            index: 0,
            event,
            revision,
            is_initial: false,
            is_initial_events_end: false,
            length,
            api_version: "",
            kind: "",
            age: None,
        }
    }

    /// Whether it is about an object: no bookmark, no error.
    pub fn is_event(&self) -> bool {
        matches!(
            self.event,
            EventType::Added | EventType::Modified | EventType::Deleted
        )
    }
}
