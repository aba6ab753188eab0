//! What a rule knows of a request and of a frame.

/// A request, before it is served.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestFacts {
    /// Who asks: the `User-Agent` up to the first `/`.
    pub client: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`.
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
    /// The version that a client has seen after it.
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
}
