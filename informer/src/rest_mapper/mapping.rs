//! The meaning of a name.

use std::fmt;

use kube::core::discovery::{ApiResource, Scope};

use crate::discovery::{
    DiscoveryFailure, GroupResource, GroupVersionKind, GroupVersionResource, ServerResource,
    api_resource,
};

/// A resource with the kind of its objects and their scope: all that a client or an informer needs.
#[doc(alias = "RESTMapping")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestMapping {
    /// The group, version and plural name.
    pub resource: GroupVersionResource,
    /// The kind in the server's spelling, not in the request's.
    pub kind: GroupVersionKind,
    /// The scope of its objects: a namespace or the cluster.
    pub scope: Scope,
}

/// A [`RestMapping`], and what a careful caller says along with it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResolvedMapping {
    /// The mapping.
    pub mapping: RestMapping,
    /// The other possible meanings.
    pub warnings: Vec<ResolveWarning>,
}

/// A reason why a name might have meant something else.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ResolveWarning {
    /// A short name is also that of another resource, which comes later in the server's order.
    AlsoMatches {
        /// The name that was asked for.
        name: String,
        /// The other resource.
        resource: GroupResource,
    },
    /// A group version that would come first could not be discovered; it may have the name too.
    Undiscovered(DiscoveryFailure),
}

// === impl RestMapping ===

impl RestMapping {
    /// Returns the description by which kube works with the resource as `DynamicObject`s.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn pods(client: kube::Client, mapping: &informer::rest_mapper::RestMapping) {
    /// use kube::{Api, api::DynamicObject};
    ///
    /// let pods: Api<DynamicObject> = Api::all_with(client, &mapping.api_resource());
    /// # }
    /// ```
    pub fn api_resource(&self) -> ApiResource {
        api_resource(&self.resource, &self.kind)
    }

    /// Returns whether the objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }
}

impl From<&ServerResource> for RestMapping {
    fn from(resource: &ServerResource) -> Self {
        let gvr = &resource.resource;
        Self {
            resource: gvr.clone(),
            // An object is addressed by the version of its path, even if another version shares its schema.
            kind: gvr.group_version().with_kind(&*resource.kind.kind),
            scope: resource.scope.clone(),
        }
    }
}

impl From<&RestMapping> for ApiResource {
    fn from(mapping: &RestMapping) -> Self {
        mapping.api_resource()
    }
}

// === impl ResolveWarning ===

impl fmt::Display for ResolveWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlsoMatches { name, resource } => write!(
                f,
                "short name {name:?} could also match lower priority resource {resource}"
            ),
            Self::Undiscovered(failure) => {
                write!(f, "another resource may come first: {failure}")
            }
        }
    }
}
