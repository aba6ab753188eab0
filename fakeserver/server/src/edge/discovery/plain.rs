//! The documents of each group and version on its own.

use base64::{Engine, engine::general_purpose::STANDARD};
use fakeserver_kinds::{
    ResourceType, Subresource,
    registry::{Group, Registry, Version},
};
use fakeserver_value::{resource::api_version, served_form::ServedForm};
use fakeserver_versions::KubernetesVersion;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    health,
    remote::{MergedGroup, MergedVersion},
};

/// The number of a digest's bytes in the hash of a storage version.
const VERSION_HASH_BYTES: usize = 8;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CoreVersions<'a> {
    kind: &'static str,
    versions: Vec<&'a str>,
    #[serde(rename = "serverAddressByClientCIDRs")]
    server_addresses: [ServerAddress<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerAddress<'a> {
    #[serde(rename = "clientCIDR")]
    client_cidr: &'static str,
    server_address: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupList<'a> {
    kind: &'static str,
    api_version: &'static str,
    groups: Vec<GroupNames<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OneGroup<'a> {
    kind: &'static str,
    api_version: &'static str,
    #[serde(flatten)]
    group: GroupNames<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupNames<'a> {
    name: &'a str,
    versions: Vec<VersionNames<'a>>,
    preferred_version: Option<VersionNames<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VersionNames<'a> {
    group_version: String,
    version: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceList<'a> {
    kind: &'static str,
    /// Absent in the core group, as it ever was.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    group_version: String,
    resources: Vec<Resource<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource<'a> {
    name: String,
    singular_name: &'a str,
    namespaced: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    kind: &'a str,
    verbs: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    short_names: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    categories: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_version_hash: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Paths {
    paths: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServerVersion {
    major: &'static str,
    minor: &'static str,
    emulation_major: &'static str,
    emulation_minor: &'static str,
    min_compatibility_major: &'static str,
    min_compatibility_minor: String,
    git_version: String,
    git_commit: &'static str,
    git_tree_state: &'static str,
    build_date: &'static str,
    go_version: &'static str,
    compiler: &'static str,
    platform: &'static str,
}

/// `/api`.
pub(super) fn core_versions<'a>(registry: &'a Registry, host: &'a str) -> CoreVersions<'a> {
    let core = registry.group("");
    let versions = core.into_iter().flat_map(|core| &core.versions);
    CoreVersions {
        kind: "APIVersions",
        versions: versions.map(|version| &*version.name).collect(),
        server_addresses: [ServerAddress {
            client_cidr: "0.0.0.0/0",
            server_address: host,
        }],
    }
}

/// `/apis`.
pub(super) fn groups<'a>(groups: &[MergedGroup<'a>]) -> GroupList<'a> {
    GroupList {
        kind: "APIGroupList",
        api_version: "v1",
        groups: groups.iter().map(GroupNames::of).collect(),
    }
}

/// `/apis/<group>`.
pub(super) fn one_group<'a>(group: &MergedGroup<'a>) -> OneGroup<'a> {
    OneGroup {
        kind: "APIGroup",
        api_version: "v1",
        group: GroupNames::of(group),
    }
}

/// `/api/<version>`, `/apis/<group>/<version>`.
pub(super) fn resources<'a>(group: &'a Group, version: &'a Version) -> ResourceList<'a> {
    let with_subresources = |resource: &'a std::sync::Arc<ResourceType>| {
        let below = resource.subresources.iter();
        std::iter::once(Resource::of(resource))
            .chain(below.map(|subresource| Resource::below(resource, subresource)))
    };
    ResourceList {
        kind: "APIResourceList",
        api_version: (!group.name.is_empty()).then_some("v1"),
        group_version: api_version(&group.name, &version.name),
        resources: version
            .resources
            .iter()
            .flat_map(with_subresources)
            .collect(),
    }
}

/// The paths that `/` lists beside those of groups, health and OpenAPI.
const OTHER_PATHS: [&str; 5] = [
    "/.well-known/openid-configuration",
    "/metrics",
    "/metrics/slis",
    "/openid/v1/jwks",
    "/version",
];
/// Those that it lists with a feature.
const GATED_PATHS: [(&str, &str); 2] = [
    ("/flagz", "ComponentFlagz"),
    ("/statusz", "ComponentStatusz"),
];

/// `/`.
pub(super) fn paths(registry: &Registry) -> Paths {
    let core = registry.group("").into_iter();
    let core = core.flat_map(|core| &core.versions);
    let mut paths = vec!["/api".to_owned()];
    paths.extend(core.map(|version| format!("/api/{}", version.name)));
    paths.push("/apis".to_owned());
    paths.push("/apis/".to_owned());
    for group in named(registry) {
        paths.push(format!("/apis/{}", group.name));
        let versions = group.versions.iter();
        paths.extend(versions.map(|version| format!("/apis/{}/{}", group.name, version.name)));
    }
    paths.extend(health::listed_paths(registry.kubernetes()));
    paths.extend(OTHER_PATHS.map(str::to_owned));
    let gates = registry.kubernetes().gates();
    let enabled = GATED_PATHS
        .into_iter()
        .filter(|(_, gate)| gates.is_on(gate));
    paths.extend(enabled.map(|(path, _)| path.to_owned()));
    paths.extend(["/openapi/v2", "/openapi/v3", "/openapi/v3/"].map(str::to_owned));
    paths.sort();
    Paths { paths }
}

/// The document of `/version`.
pub(super) fn server_version(kubernetes: KubernetesVersion) -> ServerVersion {
    let (major, minor) = kubernetes.parts();
    let previous = minor.parse::<u32>().unwrap_or_default().saturating_sub(1);
    ServerVersion {
        major,
        minor,
        emulation_major: major,
        emulation_minor: minor,
        min_compatibility_major: major,
        min_compatibility_minor: previous.to_string(),
        git_version: kubernetes.git_version(),
        git_commit: "0000000000000000000000000000000000000000",
        git_tree_state: "clean",
        build_date: "2026-01-01T00:00:00Z",
        go_version: "go1.26",
        compiler: "gc",
        platform: "linux/amd64",
    }
}

/// Returns all groups but the core group, which has no name.
fn named(registry: &Registry) -> impl Iterator<Item = &Group> {
    let groups = registry.groups().iter();
    groups.filter(|group| !group.name.is_empty())
}

fn texts(texts: &[std::sync::Arc<str>]) -> Vec<&str> {
    texts.iter().map(|text| &**text).collect()
}

// === impl GroupNames ===

impl<'a> GroupNames<'a> {
    fn of(group: &MergedGroup<'a>) -> Self {
        let names = |version: &MergedVersion<'a>| VersionNames {
            group_version: api_version(group.name, version.name()),
            version: version.name(),
        };
        Self {
            name: group.name,
            versions: group.versions.iter().map(names).collect(),
            preferred_version: group.versions.first().map(names),
        }
    }
}

// === impl Resource ===

impl<'a> Resource<'a> {
    fn of(resource: &'a ResourceType) -> Self {
        Self {
            name: resource.plural.to_string(),
            singular_name: &resource.singular,
            namespaced: resource.is_namespaced,
            group: "",
            version: "",
            kind: &resource.kind,
            verbs: texts(&resource.verbs),
            short_names: texts(&resource.short_names),
            categories: texts(&resource.categories),
            storage_version_hash: storage_version_hash(resource),
        }
    }

    fn below(resource: &'a ResourceType, subresource: &'a Subresource) -> Self {
        Self {
            name: format!("{}/{}", resource.plural, subresource.name),
            singular_name: "",
            namespaced: resource.is_namespaced,
            group: &subresource.kind.group,
            version: &subresource.kind.version,
            kind: &subresource.kind.kind,
            verbs: texts(&subresource.verbs),
            short_names: Vec::new(),
            categories: Vec::new(),
            storage_version_hash: None,
        }
    }
}

/// Returns the hash by which clients notice a new stored form of a resource; `None` for resources that are not stored.
fn storage_version_hash(resource: &ResourceType) -> Option<String> {
    let api_version = if let Some(custom) = resource.rules.as_custom() {
        // As if the resource was not stored, if clients cannot use the version.
        let api_version = custom.storage_version();
        custom.is_storage_served().then(|| api_version.to_owned())?
    } else if resource.has_verb("get") && resource.has_verb("create") {
        match resource.form.map(ServedForm::stored) {
            Some(stored) => format!("{}/{}", stored.group, stored.version),
            None => format!("{}/{}", resource.group, resource.version),
        }
    } else {
        return None;
    };
    let digest = Sha256::digest(format!("{api_version}/{}", resource.kind));
    Some(STANDARD.encode(&digest[..VERSION_HASH_BYTES]))
}
