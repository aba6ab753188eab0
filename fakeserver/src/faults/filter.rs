//! Which requests and frames a rule is about.

use serde::{Deserialize, Serialize};

use super::{FrameFacts, RequestFacts};

/// Matches requests, and frames by the request that opened their watch. What is not named does not matter.
///
/// As JSON it is the `match` of a [`FaultSpec`](super::FaultSpec).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[must_use = "a filter does nothing until a rule has it"]
pub struct Filter {
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verb: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subresource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_resource_version: Option<u64>,
}

/// The verbs that there are.
const VERBS: [&str; 9] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "discover",
];

// === impl Filter ===

impl Filter {
    /// Matches everything.
    pub fn any() -> Self {
        Self::default()
    }

    /// Only requests of this client: its `User-Agent` up to the first `/`.
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }

    /// Only this verb: `list`, `watch`, `get`, `create`, ...
    pub fn verb(mut self, verb: impl Into<String>) -> Self {
        self.verb = Some(verb.into());
        self
    }

    /// Only this API group; the core is the empty one.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Only this resource, by its plural name.
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    /// Only requests for this namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Only requests for the object of this name. Requests for collections, and creations, have no name in their path.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Only requests for this subresource; the empty one is none.
    pub fn subresource(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = Some(subresource.into());
        self
    }

    /// Only from this version on: of a frame, the one that it brings; of a request, the one that it names, or the one at
    /// which the server stands if it names none.
    pub fn min_resource_version(mut self, version: u64) -> Self {
        self.min_resource_version = Some(version);
        self
    }

    /// Whether `request` is one of those.
    pub fn matches(&self, request: &RequestFacts) -> bool {
        let version = request.asked_version().unwrap_or(request.revision);
        self.matches_path(request) && self.has_come_to(version)
    }

    /// Whether `frame` is of a watch of those, and its version one of those.
    pub fn matches_frame(&self, frame: &FrameFacts<'_>) -> bool {
        self.matches_path(frame.watch) && self.has_come_to(frame.revision)
    }

    /// The one verb that it is about, if it names one.
    pub(super) fn wanted_verb(&self) -> Option<&str> {
        self.verb.as_deref()
    }

    /// What of it can never match, by field, with why.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let verb = self.verb.as_deref()?;
        (!VERBS.contains(&verb)).then(|| {
            let known = VERBS.join(", ");
            (
                "verb",
                format!("unknown verb {verb:?}, expected one of {known}"),
            )
        })
    }

    fn has_come_to(&self, version: u64) -> bool {
        self.min_resource_version.is_none_or(|min| version >= min)
    }

    fn matches_path(&self, request: &RequestFacts) -> bool {
        fn agrees(wanted: Option<&str>, found: &str) -> bool {
            wanted.is_none_or(|wanted| wanted == found)
        }
        let subresource = request.subresource.as_deref().unwrap_or_default();
        agrees(self.client.as_deref(), &request.client)
            && agrees(self.verb.as_deref(), request.verb)
            && agrees(self.group.as_deref(), &request.group)
            && agrees(self.resource.as_deref(), &request.resource)
            && agrees(self.subresource.as_deref(), subresource)
            && (self.namespace.is_none() || self.namespace == request.namespace)
            && (self.name.is_none() || self.name == request.name)
    }
}
