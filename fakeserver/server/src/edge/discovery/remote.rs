//! Versions of groups that other servers serve, and their places among the groups of this one.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use fakeserver_kinds::{
    apiregistration::remote::Priorities,
    custom_resources::compare_versions,
    registry::{Group, Registry, Version},
};
use serde_json::{Value, json};

/// The group of API services, which is always the first one.
const FIRST: &str = "apiregistration.k8s.io";

/// A version of a group that another server serves.
#[derive(Clone, Debug)]
pub(crate) struct RemoteVersion {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) priorities: Priorities,
    /// Its resources, as documents about all groups have them.
    pub(crate) resources: Arc<Vec<Value>>,
    /// False if the server is away, so that they may be others by now.
    pub(crate) is_current: bool,
}

/// The APIs of other servers, and what orders those of this one.
#[derive(Debug, Default)]
pub(crate) struct Remote {
    pub(crate) versions: Vec<RemoteVersion>,
    /// The priorities of local versions, by group and version. Empty if there are no remote versions.
    pub(crate) local: BTreeMap<(String, String), Priorities>,
}

/// A group with versions of this server and of aggregated ones.
pub(super) struct MergedGroup<'a> {
    pub(super) name: &'a str,
    pub(super) versions: Vec<MergedVersion<'a>>,
}

/// A version and its server.
#[derive(Clone, Copy)]
pub(super) enum MergedVersion<'a> {
    Local(&'a Version),
    Remote(&'a RemoteVersion),
}

// === impl Remote ===

impl Remote {
    /// Returns all groups but the core one, in the order of discovery. A version of another server takes the place of a local
    /// one.
    pub(super) fn merged<'a>(&'a self, registry: &'a Registry) -> Vec<MergedGroup<'a>> {
        let mut groups: BTreeMap<&str, Vec<MergedVersion<'_>>> = BTreeMap::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let local = registry
            .groups()
            .iter()
            .filter(|group| !group.name.is_empty());
        for (place, group) in local.enumerate() {
            groups.insert(&group.name, MergedGroup::local(group).versions);
            places.insert(&group.name, place);
        }
        for remote in self
            .versions
            .iter()
            .filter(|remote| !remote.group.is_empty())
        {
            let versions = groups.entry(&remote.group).or_default();
            versions.retain(|version| version.name() != remote.version);
            versions.push(MergedVersion::Remote(remote));
        }
        let mut merged: Vec<MergedGroup<'_>> = groups
            .into_iter()
            .map(|(name, versions)| MergedGroup { name, versions })
            .collect();
        for group in &mut merged {
            self.sort_versions(group);
        }
        merged.sort_by_cached_key(|group| {
            let place = places.get(group.name).copied().unwrap_or(usize::MAX);
            // Groups without a priority keep their order, before the others.
            match self.group_priority(registry, group) {
                Some(priority) => (Reverse(priority), group.name, 0),
                None => (Reverse(i64::MAX), "", place),
            }
        });
        merged
    }

    /// Returns a group with all its versions, if there is one.
    pub(super) fn merged_group<'a>(
        &'a self,
        registry: &'a Registry,
        name: &str,
    ) -> Option<MergedGroup<'a>> {
        self.merged(registry)
            .into_iter()
            .find(|group| group.name == name)
    }

    fn sort_versions(&self, group: &mut MergedGroup<'_>) {
        let is_mixed = group
            .versions
            .iter()
            .any(|version| matches!(version, MergedVersion::Remote(_)));
        if !is_mixed {
            return;
        }
        let name = group.name;
        let priority = |version: &MergedVersion<'_>| self.priorities(name, version).version;
        group.versions.sort_by(|one, other| {
            let by_priority = priority(other).cmp(&priority(one));
            by_priority.then_with(|| compare_versions(one.name(), other.name()))
        });
    }

    /// Returns the highest priority that a version gives its group; `None` for local groups without a known priority.
    fn group_priority(&self, registry: &Registry, group: &MergedGroup<'_>) -> Option<i64> {
        if group.name == FIRST {
            return None;
        }
        let is_built_in = |group: Option<&Group>| group.is_some_and(|group| !group.is_custom);
        let mut local = group.versions.iter().filter(|version| match version {
            MergedVersion::Remote(_) => true,
            MergedVersion::Local(local) => {
                let key = (group.name.to_owned(), local.name.to_string());
                self.local.contains_key(&key)
            }
        });
        if is_built_in(registry.group(group.name)) && local.next().is_none() {
            return None;
        }
        let all = group.versions.iter();
        all.map(|version| self.priorities(group.name, version).group)
            .max()
    }

    fn priorities(&self, group: &str, version: &MergedVersion<'_>) -> Priorities {
        match version {
            MergedVersion::Remote(remote) => remote.priorities,
            MergedVersion::Local(local) => {
                let key = (group.to_owned(), local.name.to_string());
                let priorities = self.local.get(&key).copied();
                priorities.unwrap_or(Priorities {
                    group: 1_000,
                    version: 15,
                })
            }
        }
    }
}

// === impl MergedGroup ===

impl<'a> MergedGroup<'a> {
    /// Returns a group of this server, with its own versions.
    pub(super) fn local(group: &'a Group) -> Self {
        Self {
            name: &group.name,
            versions: group.versions.iter().map(MergedVersion::Local).collect(),
        }
    }
}

// === impl MergedVersion ===

impl<'a> MergedVersion<'a> {
    pub(super) fn name(&self) -> &'a str {
        match self {
            Self::Local(version) => &version.name,
            Self::Remote(remote) => &remote.version,
        }
    }
}

/// Returns the resources of a version in an aggregated discovery document; `None` if the document is of another kind or
/// lacks the version.
pub(crate) fn resources_in(document: &Value, group: &str, version: &str) -> Option<Vec<Value>> {
    if document["kind"] != "APIGroupDiscoveryList" {
        return None;
    }
    let find = |list: &Value, is_it: &dyn Fn(&Value) -> bool| {
        list.as_array()?.iter().find(|item| is_it(item)).cloned()
    };
    let group = find(&document["items"], &|item| {
        item["metadata"]["name"].as_str().unwrap_or_default() == group
    })?;
    let version = find(&group["versions"], &|item| item["version"] == version)?;
    Some(version["resources"].as_array().cloned().unwrap_or_default())
}

/// Converts the resources of an `APIResourceList` to the form of aggregated discovery; `None` if the document is of
/// another kind.
#[doc(alias = "ConvertGroupVersionIntoToDiscovery")]
pub(crate) fn resources_of(document: &Value, group: &str, version: &str) -> Option<Vec<Value>> {
    if document["kind"] != "APIResourceList" {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = |resource: &Value| {
        let or = |field: &str, own: &str| match resource[field].as_str() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => own.to_owned(),
        };
        json!({
            "group": or("group", group),
            "version": or("version", version),
            "kind": text(&resource["kind"]),
        })
    };
    let listed = || document["resources"].as_array().into_iter().flatten();
    let mut resources: Vec<Value> = Vec::new();
    for resource in listed() {
        let name = text(&resource["name"]);
        let (name, subresource) = match name.split_once('/') {
            Some((name, subresource)) => (name, Some(subresource)),
            None => (&*name, None),
        };
        let existing = resources
            .iter_mut()
            .find(|resource| resource["resource"] == name);
        let scope = if resource["namespaced"] == true {
            "Namespaced"
        } else {
            "Cluster"
        };
        match (existing, subresource) {
            (Some(parent), Some(subresource)) => {
                let below = json!({
                    "subresource": subresource,
                    "responseKind": kind(resource),
                    "verbs": resource["verbs"],
                });
                match parent["subresources"].as_array_mut() {
                    Some(all) => all.push(below),
                    None => parent["subresources"] = json!([below]),
                }
            }
            (None, None) => {
                let mut item = json!({
                    "resource": name,
                    "responseKind": kind(resource),
                    "scope": scope,
                    "singularResource": text(&resource["singularName"]),
                    "verbs": resource["verbs"],
                });
                for field in ["shortNames", "categories"] {
                    if !resource[field].is_null() {
                        item[field] = resource[field].clone();
                    }
                }
                resources.push(item);
            }
            // A subresource without its resource, or a second one of the name, is left out.
            _ => {}
        }
    }
    Some(resources)
}

#[cfg(test)]
mod tests {
    use fakeserver_versions::KubernetesVersion;

    use super::*;

    fn remote(group: &str, version: &str, of_group: i64, of_version: i64) -> RemoteVersion {
        RemoteVersion {
            group: group.to_owned(),
            version: version.to_owned(),
            priorities: Priorities {
                group: of_group,
                version: of_version,
            },
            resources: Arc::default(),
            is_current: true,
        }
    }

    fn names(remote: &Remote) -> Vec<String> {
        let registry = Registry::builtin(KubernetesVersion::DEFAULT);
        let groups = remote.merged(&registry);
        let documents = groups.iter().map(|group| {
            let versions = group.versions.iter().map(|version| match version {
                MergedVersion::Local(version) => version.name.to_string(),
                MergedVersion::Remote(remote) => format!("*{}", remote.version),
            });
            format!("{} {}", group.name, versions.collect::<Vec<_>>().join(" "))
        });
        documents.collect()
    }

    #[test]
    fn groups_and_versions_come_by_their_priorities() {
        let none = names(&Remote::default());
        let registry = Registry::builtin(KubernetesVersion::DEFAULT);
        let order: Vec<_> = registry.groups()[1..]
            .iter()
            .map(|group| &*group.name)
            .collect();
        let first_words = none.iter().map(|line| line.split(' ').next().unwrap());
        assert!(
            first_words.eq(order),
            "without others it is the order of this server"
        );

        let priorities = |group, version| Priorities { group, version };
        let local = [
            (("apps", "v1"), priorities(17_800, 15)),
            (("autoscaling", "v1"), priorities(17_500, 15)),
            (("autoscaling", "v2"), priorities(17_500, 30)),
        ];
        let local =
            local.map(|((group, version), at)| ((group.to_owned(), version.to_owned()), at));
        let both = Remote {
            versions: vec![
                remote("b.org", "v1", 17_600, 1),
                remote("a.org", "v1beta1", 17_600, 5),
                remote("a.org", "v1", 100, 5),
                remote("a.org", "v2", 100, 9),
                remote("autoscaling", "v2", 17_500, 10),
                remote("", "v1", 1, 1),
            ],
            local: local.into(),
        };
        let merged = names(&both);
        let tail = &merged[merged.len() - 4..];
        let expected = [
            "apps v1",
            "a.org *v2 *v1 *v1beta1",
            "b.org *v1",
            "autoscaling v1 *v2",
        ];
        assert_eq!(tail, expected);
        assert_eq!(merged[0], "apiregistration.k8s.io v1");
    }

    #[test]
    fn a_resource_list_is_converted_to_aggregated_discovery() {
        let verbs = json!(["get"]);
        let one = json!({"kind": "APIResourceList", "resources": [
            {"name": "things", "singularName": "thing", "namespaced": true, "kind": "Thing", "verbs": verbs,
             "shortNames": ["th"]},
            {"name": "things/scale", "singularName": "", "namespaced": true, "group": "autoscaling", "version": "v1",
             "kind": "Scale", "verbs": verbs},
            {"name": "lost/status", "kind": "Lost", "verbs": verbs},
            {"name": "roots", "namespaced": false, "kind": "Root", "verbs": verbs},
        ]});
        let kind = |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
        let expected = json!([
            {"resource": "things", "responseKind": kind("g", "v1", "Thing"), "scope": "Namespaced",
             "singularResource": "thing", "verbs": verbs, "shortNames": ["th"], "subresources": [
                {"subresource": "scale", "responseKind": kind("autoscaling", "v1", "Scale"), "verbs": verbs},
             ]},
            {"resource": "roots", "responseKind": kind("g", "v1", "Root"), "scope": "Cluster", "singularResource": "",
             "verbs": verbs},
        ]);
        let resources = resources_of(&one, "g", "v1").unwrap();
        assert_eq!(json!(resources), expected);
        assert_eq!(resources_of(&json!({"kind": "Status"}), "g", "v1"), None);

        let all = json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "g"}, "versions": [{"version": "v1", "resources": expected}]},
        ]});
        assert_eq!(resources_in(&all, "g", "v1"), Some(resources));
        assert_eq!(resources_in(&all, "g", "v2"), None);
        assert_eq!(resources_in(&all, "h", "v1"), None);
        assert_eq!(resources_in(&one, "g", "v1"), None);
    }
}
