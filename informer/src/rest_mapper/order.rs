//! Which of several resources of one name comes first.

use crate::discovery::{GroupVersion, GroupVersionResource, ServerResources};

/// Resources that are to come before the server's order when a name fits several.
///
/// # Examples
///
/// ```
/// use informer::rest_mapper::Preference;
///
/// // `gateways` is the Gateway API's, even where the server lists a mesh's group first.
/// let preference = Preference::group("gateway.networking.k8s.io");
/// ```
#[doc(alias = "ResourcePriority")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preference {
    group: Option<String>,
    version: Option<String>,
    resource: Option<String>,
}

/// The rank of a candidate: the one that fits the earlier preferences first, then the server's order.
///
/// Comparing what fits which preference one by one gives what client-go gets by narrowing: a preference that nothing
/// fits is skipped, and one that several fit leaves those to the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Order {
    misfits: Vec<bool>,
    place: usize,
}

// === impl Preference ===

impl Preference {
    /// Everything in a group; `""` is the core group.
    pub fn group(group: impl Into<String>) -> Self {
        Self {
            group: Some(group.into()),
            ..Self::default()
        }
    }

    /// Prefers every resource of this (plural) name, in any group.
    pub fn resource(resource: impl Into<String>) -> Self {
        Self {
            resource: Some(resource.into()),
            ..Self::default()
        }
    }

    /// Only of this version.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Only resources called so (plural).
    #[must_use]
    pub fn with_resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    fn fits(&self, version: &GroupVersion, resource: Option<&str>) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == found
        };
        is(&self.group, Some(&version.group))
            && is(&self.version, Some(&version.version))
            && is(&self.resource, resource)
    }
}

// === impl Order ===

impl Order {
    /// The order of a resource in the group version that stands at `place`.
    pub(super) fn of_resource(
        preferences: &[Preference],
        place: usize,
        resource: &GroupVersionResource,
    ) -> Self {
        let name = Some(&*resource.resource);
        Self::new(preferences, place, &resource.group_version(), name)
    }

    /// Returns the order of the resources in the group version at `place`.
    pub(super) fn of_version(
        preferences: &[Preference],
        place: usize,
        version: &GroupVersion,
    ) -> Self {
        Self::new(preferences, place, version, None)
    }

    fn new(
        preferences: &[Preference],
        place: usize,
        version: &GroupVersion,
        resource: Option<&str>,
    ) -> Self {
        let preferences = preferences.iter();
        Self {
            misfits: preferences.map(|it| !it.fits(version, resource)).collect(),
            place,
        }
    }
}

/// The server's order: `v1`, then each group as listed, its preferred version first.
pub(super) fn versions_in_order(resources: &ServerResources) -> Vec<GroupVersion> {
    let mut versions: Vec<_> = resources
        .groups()
        .flat_map(|group| {
            let versions = group.versions_by_preference();
            versions.map(|version| GroupVersion::new(&group.name, &version.version))
        })
        .collect();
    // Stable: the others keep their places.
    versions.sort_by_key(|version| !(version.group.is_empty() && version.version == "v1"));
    versions
}
