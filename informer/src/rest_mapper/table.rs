//! The core: what a name means on a server that serves this.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    error::RestMapperError,
    lookup::Candidates,
    mapping::{ResolveWarning, ResolvedMapping, RestMapping},
    name::{ResourceArg, given_version},
    order::{Order, Preference, versions_in_order},
    plural::guess_singular,
};
use crate::discovery::{
    Availability, DiscoveryFailure, GroupKind, GroupResource, GroupVersion, ServerResource,
    ServerResources,
};

/// A table of the meanings of names, for one state of a server. It sends no requests; [`RestMapper`](super::RestMapper)
/// does.
///
/// Made by hand ([`ServerResources::from_resources`]), it is a static mapper for tests and for programs without a
/// server.
///
/// # Examples
///
/// ```
/// use informer::{discovery::{GroupVersionKind, ServerResource, ServerResources}, rest_mapper::RestTable};
/// use kube::core::discovery::Scope;
///
/// let pod = GroupVersionKind::new("", "v1", "Pod");
/// let pods = ServerResource::new(pod, "pods", Scope::Namespaced).with_short_names(&["po"]);
/// let table = RestTable::new(ServerResources::from_resources([pods]));
///
/// let resolved = table.resolve(&"po".parse()?)?;
/// assert_eq!(resolved.mapping.resource.to_string(), "pods.v1.");
/// # Ok::<(), informer::rest_mapper::RestMapperError>(())
/// ```
///
/// # Memory
///
/// Some hundred bytes a resource, beside the [`ServerResources`].
#[doc(alias = "DefaultRESTMapper")]
#[doc(alias = "PriorityRESTMapper")]
#[doc(alias = "MultiRESTMapper")]
#[derive(Clone, Debug)]
pub struct RestTable {
    resources: Arc<ServerResources>,
    /// First the one that comes first.
    pub(super) entries: Vec<Entry>,
    /// The places of the entries by plural and by singular name, ascending, as in the following two.
    pub(super) full_names: Index,
    pub(super) short_names: Index,
    /// By kind in lower case.
    pub(super) kinds: Index,
    categories: BTreeMap<String, Vec<GroupResource>>,
    /// The failed groups, in order of preference.
    pub(super) unknown: Vec<UnknownVersion>,
}

/// Names in lower case, and where the entries are that have them.
pub(super) type Index = BTreeMap<String, Vec<usize>>;

/// One resource of one version.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) order: Order,
    pub(super) mapping: RestMapping,
    pub(super) singular_name: String,
    /// True if its objects can be listed; otherwise it is an action that borrows the kind of others.
    pub(super) is_listable: bool,
}

/// One version of a group that could not be discovered.
#[derive(Clone, Debug)]
pub(super) struct UnknownVersion {
    pub(super) order: Order,
    pub(super) group: String,
    pub(super) version: String,
    pub(super) failure: DiscoveryFailure,
}

// === impl RestTable ===

impl RestTable {
    /// The table of a server that serves `resources`.
    pub fn new(resources: impl Into<Arc<ServerResources>>) -> Self {
        Self::with_preferences(resources, &[])
    }

    /// As [`new`](Self::new), with what comes before the server's order, the strongest first.
    pub fn with_preferences(
        resources: impl Into<Arc<ServerResources>>,
        preferences: &[Preference],
    ) -> Self {
        let resources = resources.into();
        let mut entries = Vec::new();
        let mut unknown = Vec::new();
        let mut categories = BTreeMap::new();
        for (place, version) in versions_in_order(&resources).into_iter().enumerate() {
            match resources.group_version(&version) {
                Availability::Found(found) => {
                    for resource in found {
                        entries.push((Entry::new(resource, preferences, place), resource));
                        categorise(&mut categories, resource);
                    }
                }
                Availability::Unknown(failures) => {
                    let GroupVersion {
                        group,
                        version: name,
                    } = &version;
                    unknown.extend(failures.into_iter().map(|failure| UnknownVersion {
                        order: Order::of_version(preferences, place, &version),
                        group: group.clone(),
                        version: name.clone(),
                        failure,
                    }));
                }
                Availability::NotServed => {}
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.order.cmp(&other.order));
        unknown.sort_by(|one, other| one.order.cmp(&other.order));
        let mut table = Self {
            resources: Arc::clone(&resources),
            entries: Vec::with_capacity(entries.len()),
            full_names: Index::new(),
            short_names: Index::new(),
            kinds: Index::new(),
            categories,
            unknown,
        };
        for (entry, resource) in entries {
            table.push(entry, &resource.short_names);
        }
        table
    }

    /// Resolves a name typed by a person: a plural or singular name, else a short name, else a kind, each with version
    /// and group if given.
    ///
    /// # Errors
    ///
    /// If nothing has the name, if something unknown may have it, or if several resources have it and none comes
    /// first.
    #[doc(alias = "KindFor")]
    #[doc(alias = "ResourceFor")]
    pub fn resolve(&self, name: &ResourceArg) -> Result<ResolvedMapping, RestMapperError> {
        let (entry, warnings) = self.find(name)?;
        Ok(ResolvedMapping {
            mapping: entry.mapping.clone(),
            warnings,
        })
    }

    /// Every resource that a name fits in the strongest of its senses, first the one that comes first.
    ///
    /// # Errors
    ///
    /// If nothing has the name, or if something unknown may have it.
    #[doc(alias = "ResourcesFor")]
    #[doc(alias = "KindsFor")]
    pub fn resources_for(&self, name: &ResourceArg) -> Result<Vec<RestMapping>, RestMapperError> {
        let candidates = self.candidates(name);
        let Candidates { entries, .. } = candidates.ok_or_else(|| self.missing_resource(name))?;
        Ok(mappings(&entries))
    }

    /// The resource of a kind: in the first of `versions` that has it, or in the one that comes first if no version is
    /// given. An empty version and the server's `__internal` count as not given.
    ///
    /// # Errors
    ///
    /// If nothing has the kind, or if something unknown may have it.
    #[doc(alias = "RESTMapping")]
    pub fn rest_mapping(
        &self,
        kind: &GroupKind,
        versions: &[&str],
    ) -> Result<ResolvedMapping, RestMapperError> {
        let versions = given_versions(versions);
        let entries = self.of_kind(kind, &versions);
        let Some(first) = entries.first() else {
            return Err(self.missing_kind(kind, versions));
        };
        // Where a version stands among those that were asked for, then in the table.
        let rank = |version: &str| versions.iter().position(|it| it == version);
        let found = (rank(&first.mapping.resource.version), &first.order);
        let warnings = self
            .unknown_of_kind(kind, &versions)
            .filter(|unknown| (rank(&unknown.version), &unknown.order) < found)
            .map(|unknown| ResolveWarning::Undiscovered(unknown.failure.clone()));
        Ok(ResolvedMapping {
            mapping: first.mapping.clone(),
            warnings: warnings.collect(),
        })
    }

    /// The resources of a kind in each of `versions` that has it, in their order; in every version if none is given.
    ///
    /// # Errors
    ///
    /// If nothing has the kind, or if something unknown may have it.
    #[doc(alias = "RESTMappings")]
    pub fn rest_mappings(
        &self,
        kind: &GroupKind,
        versions: &[&str],
    ) -> Result<Vec<RestMapping>, RestMapperError> {
        let versions = given_versions(versions);
        let entries = self.of_kind(kind, &versions);
        if entries.is_empty() {
            return Err(self.missing_kind(kind, versions));
        }
        Ok(mappings(&entries))
    }

    /// The singular name of a resource that is named in any way.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve).
    #[doc(alias = "ResourceSingularizer")]
    pub fn singular_of(&self, name: &ResourceArg) -> Result<String, RestMapperError> {
        let (entry, _) = self.find(name)?;
        Ok(entry.singular_name.clone())
    }

    /// Returns the resources of a category such as `all`, each once for all its versions, in the server's order; empty
    /// if there is no such category.
    #[doc(alias = "CategoryExpander")]
    pub fn category(&self, name: &str) -> &[GroupResource] {
        self.categories.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the resources that the table was made from, with the failures of discovery.
    pub fn server_resources(&self) -> &Arc<ServerResources> {
        &self.resources
    }

    fn push(&mut self, entry: Entry, short_names: &[String]) {
        let at = self.entries.len();
        add(&mut self.kinds, &entry.mapping.kind.kind, at);
        add(&mut self.full_names, &entry.mapping.resource.resource, at);
        add(&mut self.full_names, &entry.singular_name, at);
        for short_name in short_names {
            add(&mut self.short_names, short_name, at);
        }
        self.entries.push(entry);
    }
}

// === impl Entry ===

impl Entry {
    fn new(resource: &ServerResource, preferences: &[Preference], place: usize) -> Self {
        let singular_name = if resource.singular_name.is_empty() {
            guess_singular(&resource.kind.kind)
        } else {
            resource.singular_name.clone()
        };
        Self {
            order: Order::of_resource(preferences, place, &resource.resource),
            mapping: resource.into(),
            singular_name,
            is_listable: resource.supports_all(&["list"]),
        }
    }
}

/// Adds a name of the entry at `at`. A name may be several at once, as in `endpoints`: it is still one entry.
fn add(index: &mut Index, name: &str, at: usize) {
    let places = index.entry(name.to_lowercase()).or_default();
    if places.last() != Some(&at) {
        places.push(at);
    }
}

fn categorise(categories: &mut BTreeMap<String, Vec<GroupResource>>, resource: &ServerResource) {
    let name = resource.resource.group_resource();
    for category in &resource.categories {
        let names_of_category = categories.entry(category.clone()).or_default();
        if !names_of_category.contains(&name) {
            names_of_category.push(name.clone());
        }
    }
}

fn given_versions(versions: &[&str]) -> Vec<String> {
    let versions = versions.iter().map(ToString::to_string);
    versions.filter_map(given_version).collect()
}

fn mappings(entries: &[&Entry]) -> Vec<RestMapping> {
    entries.iter().map(|entry| entry.mapping.clone()).collect()
}
