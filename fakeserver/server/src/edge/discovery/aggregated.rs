//! All groups with all their resources in one document.

use fakeserver_kinds::{
    ResourceType, Subresource,
    registry::{Registry, Version},
};
use fakeserver_value::{
    resource::GroupVersionKind,
    schema::{Field, types_in},
};
use fakeserver_versions::KubernetesVersion;
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
    metadata: GroupMetadata<'a>,
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
#[serde(rename_all = "camelCase")]
struct GroupMetadata<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    /// Null in versions that show an absent time.
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_timestamp: Option<()>,
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
    groups(registry.kubernetes(), core.as_slice(), hidden)
}

/// `/apis`.
pub(super) fn groups<'a>(
    kubernetes: KubernetesVersion,
    groups: &[MergedGroup<'a>],
    hidden: &HiddenVersions,
) -> GroupList<'a> {
    let types = types_in(kubernetes);
    let metadata = types.meta("ObjectMeta");
    let time = metadata.and_then(|metadata| types.field(metadata, "creationTimestamp"));
    let shows_time = time.is_some_and(Field::is_always_shown);
    let groups = groups.iter();
    GroupList {
        kind: "APIGroupDiscoveryList",
        api_version: "apidiscovery.k8s.io/v2",
        metadata: Empty {},
        items: groups
            .map(|group| AggregatedGroup::of(group, hidden, shows_time))
            .collect(),
    }
}

// === impl AggregatedGroup ===

impl<'a> AggregatedGroup<'a> {
    fn of(group: &MergedGroup<'a>, hidden: &HiddenVersions, shows_time: bool) -> Self {
        let versions = group.versions.iter();
        let of = |version: &MergedVersion<'a>| match version {
            MergedVersion::Local(version) => VersionEntry::local(group.name, version, hidden),
            MergedVersion::Remote(remote) => VersionEntry::remote(remote, hidden),
        };
        Self {
            metadata: GroupMetadata {
                name: group.name,
                creation_timestamp: shows_time.then_some(()),
            },
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
