//! All groups with all their resources in one document.

use fakeserver_kinds::{
    ResourceType, Subresource,
    registry::{Registry, Version},
};
use fakeserver_value::resource::GroupVersionKind;
use serde::Serialize;

use serde_json::Value;

use super::{
    HiddenVersions,
    remote::{MergedGroup, MergedVersion, RemoteVersion},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupList<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    items: Vec<AggregatedGroup<'a>>,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct AggregatedGroup<'a> {
    metadata: Name<'a>,
    versions: Vec<VersionEntry<'a>>,
}

/// A version of this server or of another one.
#[derive(Serialize)]
#[serde(untagged)]
enum VersionEntry<'a> {
    Local(AggregatedVersion<'a>),
    Remote(RemoteVersionEntry<'a>),
}

/// A version with the resources that an aggregated server reported.
#[derive(Serialize)]
struct RemoteVersionEntry<'a> {
    version: &'a str,
    resources: &'a [Value],
    freshness: &'static str,
}

#[derive(Serialize)]
struct Name<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
}

#[derive(Serialize)]
struct AggregatedVersion<'a> {
    version: &'a str,
    resources: Vec<AggregatedResource<'a>>,
    freshness: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedResource<'a> {
    resource: &'a str,
    response_kind: ResponseKind<'a>,
    scope: &'static str,
    singular_resource: &'a str,
    verbs: &'a [std::sync::Arc<str>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [std::sync::Arc<str>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [std::sync::Arc<str>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<AggregatedSubresource<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedSubresource<'a> {
    subresource: &'a str,
    response_kind: ResponseKind<'a>,
    verbs: &'a [std::sync::Arc<str>],
}

/// A kind; group and version are empty where they are the resource's own.
#[derive(Serialize)]
struct ResponseKind<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
}

/// `/api`.
pub(super) fn core<'a>(registry: &'a Registry, hidden: &HiddenVersions) -> GroupList<'a> {
    let core = registry.group("").map(MergedGroup::local);
    groups(core.as_slice(), hidden)
}

/// `/apis`.
pub(super) fn groups<'a>(groups: &[MergedGroup<'a>], hidden: &HiddenVersions) -> GroupList<'a> {
    let groups = groups.iter();
    GroupList {
        kind: "APIGroupDiscoveryList",
        api_version: "apidiscovery.k8s.io/v2",
        metadata: Empty {},
        items: groups
            .map(|group| AggregatedGroup::of(group, hidden))
            .collect(),
    }
}

// === impl AggregatedGroup ===

impl<'a> AggregatedGroup<'a> {
    fn of(group: &MergedGroup<'a>, hidden: &HiddenVersions) -> Self {
        let versions = group.versions.iter();
        let of = |version: &MergedVersion<'a>| match version {
            MergedVersion::Local(version) => VersionEntry::local(group.name, version, hidden),
            MergedVersion::Remote(remote) => VersionEntry::remote(remote, hidden),
        };
        Self {
            metadata: Name { name: group.name },
            versions: versions.map(of).collect(),
        }
    }
}

impl<'a> VersionEntry<'a> {
    fn local(group: &str, version: &'a Version, hidden: &HiddenVersions) -> Self {
        let key = (group.to_owned(), version.name.to_string());
        Self::Local(if hidden.contains(&key) {
            AggregatedVersion::unknown(version)
        } else {
            AggregatedVersion::of(version)
        })
    }

    fn remote(remote: &'a RemoteVersion, hidden: &HiddenVersions) -> Self {
        let is_hidden = hidden.contains(&(remote.group.clone(), remote.version.clone()));
        Self::Remote(RemoteVersionEntry {
            version: &remote.version,
            resources: if is_hidden { &[] } else { &remote.resources },
            freshness: if remote.is_current && !is_hidden {
                "Current"
            } else {
                "Stale"
            },
        })
    }
}

impl<'a> AggregatedVersion<'a> {
    fn of(version: &'a Version) -> Self {
        let resources = version.resources.iter();
        Self {
            version: &version.name,
            resources: resources
                .map(|resource| AggregatedResource::of(resource))
                .collect(),
            freshness: "Current",
        }
    }

    /// A version whose server is unavailable.
    fn unknown(version: &'a Version) -> Self {
        Self {
            version: &version.name,
            resources: Vec::new(),
            freshness: "Stale",
        }
    }
}

impl<'a> AggregatedResource<'a> {
    fn of(resource: &'a ResourceType) -> Self {
        let subresources = resource.subresources.iter();
        let is_custom = resource.rules.is_custom();
        Self {
            resource: &resource.plural,
            response_kind: ResponseKind {
                group: if is_custom { &resource.group } else { "" },
                version: if is_custom { &resource.version } else { "" },
                kind: &resource.kind,
            },
            scope: if resource.is_namespaced {
                "Namespaced"
            } else {
                "Cluster"
            },
            singular_resource: &resource.singular,
            verbs: &resource.verbs,
            short_names: &resource.short_names,
            categories: &resource.categories,
            subresources: subresources.map(AggregatedSubresource::of).collect(),
        }
    }
}

impl<'a> AggregatedSubresource<'a> {
    fn of(subresource: &'a Subresource) -> Self {
        Self {
            subresource: &subresource.name,
            response_kind: ResponseKind::of(&subresource.kind),
            verbs: &subresource.verbs,
        }
    }
}

impl<'a> ResponseKind<'a> {
    fn of(kind: &'a GroupVersionKind) -> Self {
        Self {
            group: &kind.group,
            version: &kind.version,
            kind: &kind.kind,
        }
    }
}
