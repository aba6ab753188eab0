//! Which resources exist: the built-in ones of Kubernetes 1.36, as a real server's discovery tells of them.

mod document;
mod fields;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use crate::resource::ResourceType;

pub(crate) use self::fields::{check_field, selectable_fields};

type ByName<T> = BTreeMap<Arc<str>, T>;

/// The resource types that a server has, in the order of discovery.
#[derive(Debug)]
pub(crate) struct Registry {
    groups: Vec<Group>,
    /// By group, then version, then plural.
    by_path: ByName<ByName<ByName<Arc<ResourceType>>>>,
}

/// A group with its versions, the preferred one first. The core group has no name.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Arc<str>,
    pub(crate) versions: Vec<Version>,
}

/// A version of a group with its resources.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) name: Arc<str>,
    pub(crate) resources: Vec<Arc<ResourceType>>,
}

/// What a path in a group and version leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Found(Arc<ResourceType>),
    /// The group and version are served, the resource is not.
    UnknownResource,
    /// The group is served, the version is not.
    UnknownVersion,
    UnknownGroup,
}

// === impl Registry ===

impl Registry {
    /// The built-in resources. They are parsed once in a process.
    pub(crate) fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Registry> = OnceLock::new();
        BUILTIN.get_or_init(|| Self::new(document::builtin_groups()))
    }

    fn new(groups: Vec<Group>) -> Self {
        let mut by_path: ByName<ByName<ByName<_>>> = ByName::new();
        for group in &groups {
            let versions = by_path.entry(Arc::clone(&group.name)).or_default();
            for version in &group.versions {
                let resources = versions.entry(Arc::clone(&version.name)).or_default();
                for resource in &version.resources {
                    resources.insert(Arc::clone(&resource.plural), Arc::clone(resource));
                }
            }
        }
        Self { groups, by_path }
    }

    /// All groups, the core group first.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub(crate) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| &*group.name == name)
    }

    pub(crate) fn version(&self, group: &str, version: &str) -> Option<&Version> {
        let mut versions = self.group(group)?.versions.iter();
        versions.find(|known| &*known.name == version)
    }

    pub(crate) fn lookup(&self, group: &str, version: &str, plural: &str) -> Lookup {
        let Some(versions) = self.by_path.get(group) else {
            return Lookup::UnknownGroup;
        };
        let Some(resources) = versions.get(version) else {
            return Lookup::UnknownVersion;
        };
        resources
            .get(plural)
            .map_or(Lookup::UnknownResource, |resource| {
                Lookup::Found(Arc::clone(resource))
            })
    }
}
