//! The resources of a server as a value: groups in the server's order, each with its versions, each known or not.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    error::{DiscoveryError, DiscoveryFailure},
    names::GroupVersion,
    resource::ServerResource,
};

/// Everything that a server serves, as far as it could be discovered.
///
/// # Memory
///
/// Some hundred bytes a resource; clones share the groups.
#[doc(alias = "ServerGroupsAndResources")]
#[derive(Clone, Debug, Default)]
pub struct ServerResources {
    groups: Vec<Arc<ServerGroup>>,
}

/// One API group and its versions.
#[doc(alias = "APIGroup")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerGroup {
    /// The name; empty for the core group.
    pub name: String,
    /// The versions in the server's order, most preferred first.
    pub versions: Vec<ServerVersion>,
    /// The version that the server prefers, if it names one. It may be one that could not be discovered.
    pub preferred_version: Option<String>,
}

/// One version of a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerVersion {
    /// The version, as in `v1beta1`.
    pub version: String,
    /// Its resources in the server's order, or why they are not known.
    pub resources: Result<Vec<ServerResource>, DiscoveryError>,
}

/// The state of knowledge about something that a server may serve.
///
/// A program that takes [`Unknown`](Self::Unknown) for [`NotServed`](Self::NotServed) breaks when one extension API
/// server is down.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: it is known to be there, known not to be, or not known"
)]
pub enum Availability<T> {
    /// The server serves it.
    Found(T),
    /// The server does not serve it.
    NotServed,
    /// The answer is not known, since these parts could not be discovered.
    Unknown(Vec<DiscoveryFailure>),
}

// === impl ServerResources ===

impl ServerResources {
    /// Creates the table, group by group in the server's order.
    pub fn new(groups: impl IntoIterator<Item = ServerGroup>) -> Self {
        Self {
            groups: groups.into_iter().map(Arc::new).collect(),
        }
    }

    /// Tables written by hand: groups and versions are ordered by their first resource.
    pub fn from_resources(resources: impl IntoIterator<Item = ServerResource>) -> Self {
        let mut groups: Vec<ServerGroup> = Vec::new();
        for resource in resources {
            let GroupVersion { group, version } = resource.resource.group_version();
            let at = groups.iter().position(|existing| existing.name == group);
            let at = at.unwrap_or_else(|| {
                groups.push(ServerGroup::new(&group, []));
                groups.len() - 1
            });
            let versions = &mut groups[at].versions;
            let existing = versions
                .iter_mut()
                .find(|existing| existing.version == version);
            match existing.map(|existing| &mut existing.resources) {
                Some(Ok(resources)) => resources.push(resource),
                _ => versions.push(ServerVersion::served(&version, vec![resource])),
            }
        }
        Self::new(groups)
    }

    /// The groups in the server's order.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &ServerGroup> {
        self.groups.iter().map(|group| &**group)
    }

    /// The group called `name`, which is empty for the core group.
    pub fn group(&self, name: &str) -> Option<&ServerGroup> {
        self.groups().find(|group| group.name == name)
    }

    /// All resources of all versions, in the server's order.
    pub fn resources(&self) -> impl Iterator<Item = &ServerResource> {
        self.groups().flat_map(ServerGroup::resources)
    }

    /// The resources of one group version.
    #[doc(alias = "ServerResourcesForGroupVersion")]
    pub fn group_version(&self, wanted: &GroupVersion) -> Availability<&[ServerResource]> {
        let version = self
            .group(&wanted.group)
            .and_then(|group| group.version(&wanted.version));
        match version.map(|version| &version.resources) {
            Some(Ok(resources)) => Availability::Found(resources),
            Some(Err(error)) => Availability::Unknown(vec![DiscoveryFailure::of_version(
                &wanted.group,
                &wanted.version,
                error.clone(),
            )]),
            None => Availability::NotServed,
        }
    }

    /// Returns whether the server serves a group version.
    #[doc(alias = "ServerSupportsVersion")]
    pub fn supports_version(&self, wanted: &GroupVersion) -> Availability<()> {
        match self.group_version(wanted) {
            Availability::Found(_) => Availability::Found(()),
            Availability::NotServed => Availability::NotServed,
            Availability::Unknown(failures) => Availability::Unknown(failures),
        }
    }

    /// Each resource once: in its group's preferred version, or else in the first version that has it.
    #[doc(alias = "ServerPreferredResources")]
    pub fn preferred_resources(&self) -> impl Iterator<Item = &ServerResource> {
        self.groups().flat_map(ServerGroup::preferred_resources)
    }

    /// [`preferred_resources`](Self::preferred_resources) whose objects live in namespaces.
    #[doc(alias = "ServerPreferredNamespacedResources")]
    pub fn preferred_namespaced_resources(&self) -> impl Iterator<Item = &ServerResource> {
        self.preferred_resources()
            .filter(|resource| resource.is_namespaced())
    }

    /// Returns the failures of discovery. A caller has to decide what they mean for it.
    #[doc(alias = "ErrGroupDiscoveryFailed")]
    pub fn failures(&self) -> impl Iterator<Item = DiscoveryFailure> {
        self.groups().flat_map(ServerGroup::failures)
    }

    /// Returns whether everything could be discovered.
    pub fn is_complete(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The same server with one group replaced, added at the end, or taken away.
    ///
    /// A new group's true place is known only after all groups are read again.
    pub(super) fn with_group(&self, name: &str, group: Option<ServerGroup>) -> Self {
        let mut groups = self.groups.clone();
        let at = groups.iter().position(|existing| existing.name == name);
        match (at, group.map(Arc::new)) {
            (Some(at), Some(group)) => groups[at] = group,
            (Some(at), None) => drop(groups.remove(at)),
            (None, Some(group)) => groups.push(group),
            (None, None) => {}
        }
        Self { groups }
    }
}

// === impl ServerGroup ===

impl ServerGroup {
    /// The group called `name`, with its versions in the server's order.
    pub fn new(name: &str, versions: impl IntoIterator<Item = ServerVersion>) -> Self {
        Self {
            name: name.to_owned(),
            versions: versions.into_iter().collect(),
            preferred_version: None,
        }
    }

    /// Sets the version that the server prefers.
    #[must_use]
    pub fn with_preferred_version(mut self, preferred_version: &str) -> Self {
        self.preferred_version = Some(preferred_version.to_owned());
        self
    }

    /// One of the versions.
    pub fn version(&self, version: &str) -> Option<&ServerVersion> {
        self.versions
            .iter()
            .find(|existing| existing.version == version)
    }

    /// The versions with the preferred one first, then in the server's order.
    pub fn versions_by_preference(&self) -> impl Iterator<Item = &ServerVersion> {
        let preferred = self.preferred_version.as_deref();
        let is_preferred = move |version: &&ServerVersion| Some(&*version.version) == preferred;
        let first = self.versions.iter().find(is_preferred);
        let rest = self.versions.iter().filter(move |it| !is_preferred(it));
        first.into_iter().chain(rest)
    }

    /// All resources of all versions, in the server's order.
    pub fn resources(&self) -> impl Iterator<Item = &ServerResource> {
        self.versions
            .iter()
            .filter_map(|version| version.resources.as_ref().ok())
            .flatten()
    }

    /// Each resource once: in the preferred version, or else in the first version that has it.
    pub fn preferred_resources(&self) -> impl Iterator<Item = &ServerResource> {
        let mut seen = BTreeSet::new();
        self.versions_by_preference()
            .filter_map(|version| version.resources.as_ref().ok())
            .flatten()
            .filter(move |resource| seen.insert(&resource.resource.resource))
    }

    /// The same group with nothing known of its versions but that they were there.
    pub(super) fn doubted(&self, error: &DiscoveryError) -> Self {
        let versions = self.versions.iter();
        Self {
            name: self.name.clone(),
            versions: versions
                .map(|version| ServerVersion::failed(&version.version, error.clone()))
                .collect(),
            preferred_version: self.preferred_version.clone(),
        }
    }

    /// The versions that could not be discovered.
    pub fn failures(&self) -> impl Iterator<Item = DiscoveryFailure> {
        self.versions.iter().filter_map(|version| {
            let error = version.resources.as_ref().err()?;
            Some(DiscoveryFailure::of_version(
                &self.name,
                &version.version,
                error.clone(),
            ))
        })
    }
}

// === impl ServerVersion ===

impl ServerVersion {
    /// A version and its resources.
    pub fn served(version: &str, resources: Vec<ServerResource>) -> Self {
        Self {
            version: version.to_owned(),
            resources: Ok(resources),
        }
    }

    /// A version that could not be discovered.
    pub fn failed(version: &str, error: DiscoveryError) -> Self {
        Self {
            version: version.to_owned(),
            resources: Err(error),
        }
    }
}

// === impl Availability ===

impl<T> Availability<T> {
    /// Returns the value, if it is served.
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(found) => Some(found),
            Self::NotServed | Self::Unknown(_) => None,
        }
    }

    /// Returns whether it is known not to be served.
    pub fn is_not_served(&self) -> bool {
        matches!(self, Self::NotServed)
    }

    /// Returns whether it is not known.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}
