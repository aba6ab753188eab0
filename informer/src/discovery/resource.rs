//! One resource as the server describes it.

use kube::core::discovery::{ApiResource, Scope};

use super::names::{GroupVersionKind, GroupVersionResource};

/// A resource that a server serves in one version of its group.
#[doc(alias = "APIResource")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerResource {
    /// The group, version and plural name.
    pub resource: GroupVersionResource,
    /// The kind of its objects; nearly always of the same group and version.
    pub kind: GroupVersionKind,
    /// The singular name in lower case; empty if the server does not say.
    pub singular_name: String,
    /// The scope of its objects: a namespace or the cluster.
    pub scope: Scope,
    /// The verbs that it supports, as in `list` and `watch`.
    pub verbs: Vec<String>,
    /// The short names, as in `po`.
    pub short_names: Vec<String>,
    /// The groups of resources that it belongs to, as in `all`.
    pub categories: Vec<String>,
    /// The subresources of its objects.
    pub subresources: Vec<Subresource>,
}

/// A part of an object that has its own path, as in `pods/status`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Subresource {
    /// The last segment of the path, as in `scale`.
    pub name: String,
    /// The kind that is read and written there, as in `autoscaling/v1` `Scale`.
    pub kind: GroupVersionKind,
    /// The verbs that it supports, as in `get` and `patch`.
    pub verbs: Vec<String>,
}

// === impl ServerResource ===

impl ServerResource {
    /// A resource by the given plural name, that can be listed and watched, for tables that are written by hand.
    pub fn new(kind: GroupVersionKind, plural: &str, scope: Scope) -> Self {
        Self {
            resource: kind.group_version().with_resource(plural),
            singular_name: kind.kind.to_lowercase(),
            kind,
            scope,
            verbs: ["get", "list", "watch"].map(str::to_owned).into(),
            short_names: Vec::new(),
            categories: Vec::new(),
            subresources: Vec::new(),
        }
    }

    /// Sets the singular name; empty if the server does not say.
    #[must_use]
    pub fn with_singular_name(mut self, singular_name: &str) -> Self {
        singular_name.clone_into(&mut self.singular_name);
        self
    }

    /// Sets the short names.
    #[must_use]
    pub fn with_short_names(mut self, short_names: &[&str]) -> Self {
        self.short_names = short_names.iter().map(ToString::to_string).collect();
        self
    }

    /// Sets the categories.
    #[must_use]
    pub fn with_categories(mut self, categories: &[&str]) -> Self {
        self.categories = categories.iter().map(ToString::to_string).collect();
        self
    }

    /// Sets the verbs.
    #[must_use]
    pub fn with_verbs(mut self, verbs: &[&str]) -> Self {
        self.verbs = verbs.iter().map(ToString::to_string).collect();
        self
    }

    /// Returns whether the resource has all of `verbs`. An informer needs `list` and `watch`.
    #[doc(alias = "SupportsAllVerbs")]
    pub fn supports_all(&self, verbs: &[&str]) -> bool {
        verbs
            .iter()
            .all(|verb| self.verbs.iter().any(|known| known == verb))
    }

    /// Returns whether the objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// Returns the description by which kube works with the resource as `DynamicObject`s.
    pub fn api_resource(&self) -> ApiResource {
        api_resource(&self.resource, &self.kind)
    }
}

/// kube's description of a resource: where it is, and what its objects are called.
///
/// The version in the path is the resource's. `ApiResource` has one group and version for both, and they differ in no
/// resource that Kubernetes serves as such (only in subresources).
pub(crate) fn api_resource(
    resource: &GroupVersionResource,
    kind: &GroupVersionKind,
) -> ApiResource {
    ApiResource {
        group: resource.group.clone(),
        version: resource.version.clone(),
        api_version: resource.group_version().to_string(),
        kind: kind.kind.clone(),
        plural: resource.resource.clone(),
    }
}
