//! The registry of resources: the built-in ones of a version of Kubernetes, as the discovery of a real server lists them,
//! and those that are defined at run time.

mod document;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use fakeserver_value::{object::Pairs, resource::GroupResource};
use fakeserver_versions::{KubernetesVersion, PerVersion};
use serde_json::Value;

use crate::{
    Kind, KindRef, ResourceType, all::KINDS, custom_resources::compare_versions,
    definition::Definition,
};

type ByName<T> = BTreeMap<Arc<str>, T>;

/// The feature gate of elections that the server holds.
pub const ELECTIONS: &str = "CoordinatedLeaderElection";

/// The resource types that a server has, in the order of discovery.
#[derive(Debug)]
pub struct Registry {
    kubernetes: KubernetesVersion,
    groups: Vec<Group>,
    /// By group, then version, then plural.
    by_path: ByName<ByName<ByName<Arc<ResourceType>>>>,
    /// The rules of stored objects, by the resource under which they are stored.
    by_storage: BTreeMap<GroupResource, KindRef>,
    definitions: Vec<Arc<Definition>>,
    /// The feature gates of which it has what they add.
    gates: Vec<&'static str>,
    /// The same with a group of which nothing is stored, once it is needed.
    extended: OnceLock<Arc<Registry>>,
}

/// A group with its versions, the preferred one first. The core group has no name.
#[derive(Debug, Clone)]
pub struct Group {
    pub name: Arc<str>,
    pub versions: Vec<Version>,
    /// True if only definitions have made it.
    pub is_custom: bool,
}

/// A version of a group with its resources.
#[derive(Debug, Clone)]
pub struct Version {
    pub name: Arc<str>,
    pub resources: Vec<Arc<ResourceType>>,
}

/// The result of looking up a path in a group and version.
#[derive(Debug, PartialEq, Eq)]
pub enum Lookup {
    Found(Arc<ResourceType>),
    /// The group and version are served, the resource is not.
    UnknownResource,
    /// The group is served, the version is not.
    UnknownVersion,
    UnknownGroup,
}

// === impl Registry ===

impl Registry {
    /// The built-in resources of a version of Kubernetes. They are parsed once in a process.
    pub fn builtin(kubernetes: KubernetesVersion) -> Arc<Self> {
        static BUILTIN: PerVersion<Arc<Registry>> = PerVersion::new();
        let builtin = BUILTIN.get_or_init(kubernetes, || {
            let groups = document::builtin_groups(kubernetes);
            Arc::new(Self::new(kubernetes, groups, Vec::new()))
        });
        Arc::clone(builtin)
    }

    /// The built-in resources with what feature gates add, by their names: with [`ELECTIONS`] candidates, and leases that know
    /// of them. A gate that adds nothing to the version has no effect.
    pub fn gated(kubernetes: KubernetesVersion, gates: &[&'static str]) -> Arc<Self> {
        type ByGates = BTreeMap<Vec<&'static str>, Arc<Registry>>;
        static GATED: PerVersion<Mutex<ByGates>> = PerVersion::new();
        if gates.is_empty() {
            return Self::builtin(kubernetes);
        }
        let made = GATED.get_or_init(kubernetes, Mutex::default);
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        let registry = made.entry(gates.to_vec()).or_insert_with(|| {
            let groups = document::gated_groups(kubernetes, gates);
            Arc::new(Self {
                gates: gates.to_vec(),
                ..Self::new(kubernetes, groups, Vec::new())
            })
        });
        Arc::clone(registry)
    }

    /// Returns the resources of a version of Kubernetes without definitions, with what the feature gates of this one add.
    pub fn without_definitions(&self, kubernetes: KubernetesVersion) -> Arc<Self> {
        Self::gated(kubernetes, &self.gates)
    }

    /// Returns the resources of another version of Kubernetes with the same definitions.
    pub fn in_version(&self, kubernetes: KubernetesVersion) -> Arc<Self> {
        let builtin = self.without_definitions(kubernetes);
        if self.definitions.is_empty() {
            return builtin;
        }
        let definitions = self.definitions.iter();
        let definitions = definitions.map(|definition| definition.in_version(kubernetes));
        Arc::new(builtin.with_definitions(definitions.collect()))
    }

    /// Returns the built-in resources and the custom ones of `definitions`, whose groups come last, in alphabetical order.
    pub fn with_definitions(&self, definitions: Vec<Arc<Definition>>) -> Self {
        let mut groups = self.groups.clone();
        // Built-in groups keep the recorded order, which is not alphabetical.
        let builtin_count = groups.len();
        for resource in definitions.iter().flat_map(|own| own.served()) {
            add(&mut groups, resource);
        }
        groups[builtin_count..].sort_by(|a, b| a.name.cmp(&b.name));
        for group in &mut groups[builtin_count..] {
            let versions = &mut group.versions;
            versions.sort_by(|a, b| compare_versions(&a.name, &b.name));
            for version in versions {
                version.resources.sort_by(|a, b| a.plural.cmp(&b.plural));
            }
        }
        Self {
            gates: self.gates.clone(),
            ..Self::new(self.kubernetes, groups, definitions)
        }
    }

    fn new(
        kubernetes: KubernetesVersion,
        groups: Vec<Group>,
        definitions: Vec<Arc<Definition>>,
    ) -> Self {
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
        let built_in = KINDS.iter().filter(|kind| !kind.is_stored_elsewhere());
        let built_in = built_in.map(|kind| (kind.storage().clone(), KindRef::BuiltIn(kind)));
        let custom = definitions.iter().filter_map(|definition| {
            let preferred = definition.served().first()?;
            Some((definition.resource().clone(), preferred.rules.clone()))
        });
        Self {
            kubernetes,
            by_storage: built_in.chain(custom).collect(),
            groups,
            by_path,
            definitions,
            gates: Vec::new(),
            extended: OnceLock::new(),
        }
    }

    /// Returns the same with a group of which nothing is stored, always the same one, as its last; without it if definitions
    /// make a group of that name.
    pub fn with_unstored(self: &Arc<Self>, name: &str, group: impl FnOnce() -> Group) -> Arc<Self> {
        if self.group(name).is_some() {
            return Arc::clone(self);
        }
        let extended = self.extended.get_or_init(|| {
            let mut groups = self.groups.clone();
            groups.push(group());
            Arc::new(Self {
                gates: self.gates.clone(),
                ..Self::new(self.kubernetes, groups, self.definitions.clone())
            })
        });
        Arc::clone(extended)
    }

    /// Returns whether it has the built-in resources and no others.
    pub fn is_builtin(&self) -> bool {
        self.groups.len() == Self::builtin(self.kubernetes).groups.len() && self.has_only_recorded()
    }

    /// Returns whether all that is stored is of resources that a real server has by default.
    pub fn has_only_recorded(&self) -> bool {
        self.definitions.is_empty() && self.gates.is_empty()
    }

    /// The version of Kubernetes whose resources are built in.
    pub fn kubernetes(&self) -> KubernetesVersion {
        self.kubernetes
    }

    /// The definitions behind the custom resources.
    pub fn definitions(&self) -> &[Arc<Definition>] {
        &self.definitions
    }

    /// Returns the rules of stored objects; those of a custom resource are of its preferred version.
    pub fn stored(&self, resource: &GroupResource) -> Option<&Kind> {
        self.by_storage.get(resource).map(|rules| &**rules)
    }

    /// Returns the values of a stored object that field selectors can ask for, without name and namespace.
    pub fn selectable_values(&self, resource: &GroupResource, object: &Value) -> Pairs {
        let rules = self.stored(resource);
        rules.map_or_else(Pairs::default, |rules| rules.selectable_values(object))
    }

    /// Returns whether it has the resource of a type, be it of another version of Kubernetes.
    pub fn serves(&self, resource: &ResourceType) -> bool {
        let found = self.lookup(&resource.group, &resource.version, &resource.plural);
        matches!(found, Lookup::Found(_))
    }

    /// Returns the type in whose form objects of a stored resource are stored; `None` if it is not served.
    pub fn stored_type(&self, resource: &GroupResource) -> Option<&Arc<ResourceType>> {
        let versions = self.groups.iter().flat_map(|group| &group.versions);
        let mut types = versions.flat_map(|version| &version.resources);
        types.find(|found| found.rules.storage() == resource && found.converted_form().is_none())
    }

    /// All groups, the core group first.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| &*group.name == name)
    }

    pub fn version(&self, group: &str, version: &str) -> Option<&Version> {
        let mut versions = self.group(group)?.versions.iter();
        versions.find(|version_of| &*version_of.name == version)
    }

    pub fn lookup(&self, group: &str, version: &str, plural: &str) -> Lookup {
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

fn add(groups: &mut Vec<Group>, resource: &Arc<ResourceType>) {
    let at = groups
        .iter()
        .position(|group| group.name == resource.group)
        .unwrap_or_else(|| {
            groups.push(Group {
                name: Arc::clone(&resource.group),
                versions: Vec::new(),
                is_custom: true,
            });
            groups.len() - 1
        });
    let versions = &mut groups[at].versions;
    let at = versions
        .iter()
        .position(|version| version.name == resource.version)
        .unwrap_or_else(|| {
            versions.push(Version {
                name: Arc::clone(&resource.version),
                resources: Vec::new(),
            });
            versions.len() - 1
        });
    versions[at].resources.push(Arc::clone(resource));
}
