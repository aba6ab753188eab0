//! The requests and frames that a rule matches.

use serde::{Deserialize, Serialize};

use super::{FrameFacts, RequestFacts};

/// Matches requests, and frames by the request that opened their watch. A condition that is not set matches all.
///
/// As JSON it is the `match` of a [`FaultSpec`](super::FaultSpec).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[must_use = "a filter does nothing until a rule has it"]
pub struct Filter {
    /// The `User-Agent` up to the first `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    /// The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or `discover`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(extend("enum" = verb_values())))]
    verb: Option<String>,
    /// The API group; the core group is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// The plural name of the resource, as in `configmaps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    /// The namespace in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// The name in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The subresource; empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    subresource: Option<String>,
    /// The lowest version: of a frame; that a request names; of the server, if the request names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_resource_version: Option<u64>,
}

/// All verbs.
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

/// Returns the values that `verb` may have.
#[cfg(test)]
fn verb_values() -> Vec<Option<&'static str>> {
    VERBS.map(Some).into_iter().chain([None]).collect()
}

/// Returns the reason why no request has this verb.
fn verb_problem(verb: &str) -> Option<String> {
    let is_known = VERBS.contains(&verb);
    (!is_known).then(|| {
        let verbs = VERBS.join(", ");
        format!("unknown verb {verb:?}, expected one of {verbs}")
    })
}

/// Returns the reason why no resource can have this plural name.
fn resource_problem(resource: &str) -> Option<String> {
    let in_plurals = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if resource.bytes().all(in_plurals) {
        return None;
    }
    let advice = if resource == "*" {
        "a match without `resource` is for all"
    } else if resource.contains('/') {
        "what stands behind the slash is for `subresource`"
    } else if resource.contains('.') {
        "what stands behind the dot is for `group`"
    } else {
        "it has lower-case letters, digits and `-` only, as in \"configmaps\""
    };
    Some(format!(
        "{resource:?} is no plural name of a resource: {advice}"
    ))
}

// === impl Filter ===

impl Filter {
    /// Returns the filter that matches everything.
    pub fn any() -> Self {
        Self::default()
    }

    /// Matches only requests of this client: its `User-Agent` up to the first `/`.
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }

    /// Matches only this verb: `list`, `watch`, `get`, `create`, ...
    pub fn verb(mut self, verb: impl Into<String>) -> Self {
        self.verb = Some(verb.into());
        self
    }

    /// Matches only this API group; the core group is empty.
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Matches only this resource, by its plural name.
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    /// Matches only requests for this namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Matches only requests for the object of this name. Requests for collections, and creations, have no name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Matches only requests for this subresource; the empty string stands for none.
    pub fn subresource(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = Some(subresource.into());
        self
    }

    /// Matches only from this version on: the version of a frame; the version that a request names, or the server's if it
    /// names none.
    pub fn min_resource_version(mut self, version: u64) -> Self {
        self.min_resource_version = Some(version);
        self
    }

    /// Returns whether it matches `request`.
    pub fn matches(&self, request: &RequestFacts) -> bool {
        let version = request.requested_version().unwrap_or(request.revision);
        self.matches_path(request) && self.has_reached(version)
    }

    /// Returns whether it matches `frame`.
    pub fn matches_frame(&self, frame: &FrameFacts<'_>) -> bool {
        self.matches_path(frame.watch) && self.has_reached(frame.revision)
    }

    /// Returns its verb, if one is set.
    pub(super) fn wanted_verb(&self) -> Option<&str> {
        self.verb.as_deref()
    }

    /// Returns its resource, if one is set.
    pub(crate) fn wanted_resource(&self) -> Option<&str> {
        self.resource.as_deref()
    }

    /// Returns its group, if one is set.
    pub(crate) fn wanted_group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Returns a field that can never match, with the reason.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let verb = self.verb.as_deref().and_then(verb_problem);
        let resource = || self.resource.as_deref().and_then(resource_problem);
        let verb = verb.map(|problem| ("verb", problem));
        verb.or_else(|| resource().map(|problem| ("resource", problem)))
    }

    fn has_reached(&self, version: u64) -> bool {
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
