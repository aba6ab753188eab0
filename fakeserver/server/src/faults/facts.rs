//! The facts about a request or frame on which rules decide.

use std::time::Duration;

use fakeserver_value::status::NamedObject;

/// The verb of discovery requests.
pub(super) const DISCOVER: &str = "discover";

/// The facts about a request, before it is served.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestFacts {
    /// The client: the `User-Agent` up to the first `/`.
    pub client: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or `discover` for discovery.
    ///
    /// A discovery request has no resource, and either both a group and a version or neither.
    pub verb: &'static str,
    /// The API group, empty for the core.
    pub group: String,
    /// The version of the group.
    pub version: String,
    /// The plural name of the resource.
    pub resource: String,
    /// The subresource, such as `status`.
    pub subresource: Option<String>,
    /// The namespace in the path.
    pub namespace: Option<String>,
    /// The name in the path.
    pub name: Option<String>,
    /// The parameter `resourceVersion`; empty if it is absent.
    pub resource_version: String,
    /// True for a streaming list: a watch with `sendInitialEvents`.
    pub is_watch_list: bool,
    /// True if it continues a paged list.
    pub has_continue: bool,
    /// The parameter `continue`; empty if it is absent.
    pub continue_token: String,
    /// The name of the user.
    pub user: String,
    /// The revision of the server at its arrival.
    pub revision: u64,
}

/// The type of a watch event.
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

/// The facts about a frame of a watch, before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameFacts<'a> {
    /// The watch.
    pub watch: &'a RequestFacts,
    /// Its place in the stream, from 0.
    pub index: u64,
    /// The type of its event.
    pub event: EventType,
    /// The version that its client has seen after it; among initial events, the version of the object.
    pub revision: u64,
    /// True if it belongs to the initial events, their end included.
    pub is_initial: bool,
    /// True if it is the bookmark that ends the initial events.
    pub is_initial_events_end: bool,
    /// Its length in bytes.
    pub length: usize,
    /// The `apiVersion` of the objects in this stream.
    pub api_version: &'a str,
    /// The `kind` of the objects in this stream.
    pub kind: &'a str,
    /// The time since its change was made; `None` if it reports no change.
    pub age: Option<Duration>,
}

// === impl RequestFacts ===

impl RequestFacts {
    /// Returns whether the request is a write.
    pub fn is_write(&self) -> bool {
        !matches!(self.verb, "get" | "list" | "watch" | DISCOVER)
    }

    /// Returns the version that the request names, if it is above 0.
    pub fn requested_version(&self) -> Option<u64> {
        self.resource_version
            .parse()
            .ok()
            .filter(|version| *version > 0)
    }

    /// Returns the name of the object or collection in answers.
    pub(super) fn named(&self) -> NamedObject<'_> {
        NamedObject {
            resource: &self.resource,
            group: &self.group,
            name: self.name.as_deref().unwrap_or_default(),
        }
    }
}

// === impl FrameFacts ===

impl<'a> FrameFacts<'a> {
    /// Returns the facts about a frame of `length` bytes; the rest is as for the first frame of a watch from a version, with
    /// objects of an unknown kind.
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

    /// Returns whether its event is about an object: no bookmark, no error.
    pub fn is_event(&self) -> bool {
        matches!(
            self.event,
            EventType::Added | EventType::Modified | EventType::Deleted
        )
    }
}
