//! Which requests a named rule is about.

use super::RequestFacts;

/// Matches requests, and watches by the request that opened them. What is not named does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "a filter does nothing until a rule has it"]
pub struct Filter {
    client: Option<String>,
    verb: Option<String>,
    group: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
}

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

    /// Whether `request` is one of those.
    pub fn matches(&self, request: &RequestFacts) -> bool {
        fn agrees(wanted: Option<&str>, found: &str) -> bool {
            wanted.is_none_or(|wanted| wanted == found)
        }
        agrees(self.client.as_deref(), &request.client)
            && agrees(self.verb.as_deref(), request.verb)
            && agrees(self.group.as_deref(), &request.group)
            && agrees(self.resource.as_deref(), &request.resource)
            && (self.namespace.is_none() || self.namespace == request.namespace)
    }
}
