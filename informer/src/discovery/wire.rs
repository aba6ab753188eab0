//! Discovery documents, read in the forms in which servers write them.
//!
//! The lists may be `null`, since a Go server writes an empty slice so; kube's own types refuse that.

use std::sync::Arc;

use kube::core::discovery::Scope;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use super::{
    error::DiscoveryError,
    names::{GroupVersion, GroupVersionKind},
    resource::{ServerResource, Subresource},
    table::{ServerGroup, ServerVersion},
};

/// The accepted types: aggregated discovery, or else the plain form.
pub(super) const ACCEPT_AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
/// The accepted type: the plain form.
pub(super) const ACCEPT_PLAIN: &str = "application/json";

/// The answer of one of the two roots, `/api` and `/apis`.
#[derive(Debug)]
pub(super) enum Root {
    /// Groups with their resources.
    Aggregated(Vec<ServerGroup>),
    /// Groups whose resources are to be asked for, version by version.
    Plain(Vec<GroupOutline>),
}

/// A group and its versions, without resources.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GroupOutline {
    pub(super) name: String,
    pub(super) versions: Vec<String>,
    pub(super) preferred_version: Option<String>,
}

// === Reading ===

/// Reads the answer of `/api` or of `/apis`. The content type decides what it is.
pub(super) fn parse_root(
    is_core: bool,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<Root, DiscoveryError> {
    if content_type.is_some_and(is_aggregated) {
        let list: AggregatedList = parse(body, "APIGroupDiscoveryList")?;
        let groups = list.items.into_iter().map(AggregatedGroup::into_group);
        return Ok(Root::Aggregated(groups.collect()));
    }
    if is_core {
        return Ok(Root::Plain(parse_core(body)?.into_iter().collect()));
    }
    let list: PlainGroupList = parse(body, "APIGroupList")?;
    let groups = list.groups.into_iter().map(PlainGroup::into_outline);
    Ok(Root::Plain(groups.collect()))
}

/// Reads the plain answer of `/api`; `None` if the server has no core group.
pub(super) fn parse_core(body: &[u8]) -> Result<Option<GroupOutline>, DiscoveryError> {
    let versions: PlainVersions = parse(body, "APIVersions")?;
    let preferred_version = versions.versions.first().cloned();
    Ok(preferred_version.map(|preferred| GroupOutline {
        name: String::new(),
        versions: versions.versions,
        preferred_version: Some(preferred),
    }))
}

/// Reads the answer of `/apis/<group>`.
pub(super) fn parse_group(body: &[u8]) -> Result<GroupOutline, DiscoveryError> {
    parse::<PlainGroup>(body, "APIGroup").map(PlainGroup::into_outline)
}

/// Reads the answer of `/api/v1` or of `/apis/<group>/<version>`.
pub(super) fn parse_resources(
    group_version: &GroupVersion,
    body: &[u8],
) -> Result<Vec<ServerResource>, DiscoveryError> {
    let list: PlainResourceList = parse(body, "APIResourceList")?;
    let mut resources: Vec<ServerResource> = Vec::new();
    let mut subresources: Vec<(String, Subresource)> = Vec::new();
    for entry in list.resources {
        let kind = GroupVersionKind {
            group: entry.group,
            version: entry.version,
            kind: entry.kind,
        };
        let kind = or_within(kind, group_version);
        match entry.name.split_once('/') {
            Some((parent, name)) => subresources.push((
                parent.to_owned(),
                Subresource {
                    name: name.to_owned(),
                    kind,
                    verbs: entry.verbs,
                },
            )),
            None => resources.push(ServerResource {
                resource: group_version.with_resource(entry.name),
                kind,
                singular_name: entry.singular_name,
                scope: if entry.namespaced {
                    Scope::Namespaced
                } else {
                    Scope::Cluster
                },
                verbs: entry.verbs,
                short_names: entry.short_names,
                categories: entry.categories,
                subresources: Vec::new(),
            }),
        }
    }
    for (parent, subresource) in subresources {
        let parent = resources
            .iter_mut()
            .find(|known| known.resource.resource == parent);
        if let Some(parent) = parent {
            parent.subresources.push(subresource);
        }
    }
    Ok(resources)
}

/// Returns whether a content type means an aggregated answer: the parameters decide, in any order.
pub(super) fn is_aggregated(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    if parts.next() != Some("application/json") {
        return false;
    }
    let (mut group, mut version, mut kind) = (None, None, None);
    for parameter in parts {
        let Some((name, value)) = parameter.split_once('=') else {
            continue;
        };
        let value = Some(value.trim().trim_matches('"'));
        match name.trim() {
            "g" => group = value,
            "v" => version = value,
            "as" => kind = value,
            _ => {}
        }
    }
    group == Some("apidiscovery.k8s.io")
        && version == Some("v2")
        && kind == Some("APIGroupDiscoveryList")
}

/// Decodes `body` as the type that calls itself `kind`.
///
/// The kind is checked because every field of these types may be left out: without the check, `{}` from some proxy
/// would mean a server that serves nothing.
fn parse<T: DeserializeOwned>(body: &[u8], kind: &'static str) -> Result<T, DiscoveryError> {
    #[derive(Deserialize)]
    struct Head {
        kind: String,
    }
    let fail = |source| DiscoveryError::Protocol {
        expected: kind,
        source: Arc::new(source),
    };
    let head: Head = serde_json::from_slice(body).map_err(fail)?;
    if head.kind != kind {
        let found = format!("the kind is {:?}", head.kind);
        return Err(fail(serde::de::Error::custom(found)));
    }
    serde_json::from_slice(body).map_err(fail)
}

/// A kind whose empty group and version stand for those of the document that it is in.
fn or_within(kind: GroupVersionKind, group_version: &GroupVersion) -> GroupVersionKind {
    if kind.group.is_empty() && kind.version.is_empty() {
        group_version.with_kind(kind.kind)
    } else {
        kind
    }
}

// === The aggregated form ===

#[derive(Deserialize)]
struct AggregatedList {
    #[serde(default, deserialize_with = "null_as_default")]
    items: Vec<AggregatedGroup>,
}

#[derive(Deserialize)]
struct AggregatedGroup {
    #[serde(default, deserialize_with = "null_as_default")]
    metadata: AggregatedMetadata,
    #[serde(default, deserialize_with = "null_as_default")]
    versions: Vec<AggregatedVersion>,
}

#[derive(Default, Deserialize)]
struct AggregatedMetadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct AggregatedVersion {
    version: String,
    #[serde(default, deserialize_with = "null_as_default")]
    resources: Vec<AggregatedResource>,
    #[serde(default)]
    freshness: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedResource {
    resource: String,
    #[serde(default, deserialize_with = "null_as_default")]
    response_kind: AggregatedKind,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default, deserialize_with = "null_as_default")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    short_names: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    categories: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    subresources: Vec<AggregatedSubresource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedSubresource {
    subresource: String,
    #[serde(default, deserialize_with = "null_as_default")]
    response_kind: AggregatedKind,
    #[serde(default, deserialize_with = "null_as_default")]
    verbs: Vec<String>,
}

#[derive(Default, Deserialize)]
struct AggregatedKind {
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    kind: String,
}

impl AggregatedGroup {
    fn into_group(self) -> ServerGroup {
        let name = self.metadata.name;
        let versions: Vec<_> = self
            .versions
            .into_iter()
            .map(|version| version.into_version(&name))
            .collect();
        let preferred = versions.iter().find(|version| version.resources.is_ok());
        let preferred = preferred.map(|version| version.version.clone());
        ServerGroup {
            name,
            versions,
            preferred_version: preferred,
        }
    }
}

impl AggregatedVersion {
    fn into_version(self, group: &str) -> ServerVersion {
        if self.freshness == "Stale" {
            return ServerVersion::failed(&self.version, DiscoveryError::Stale);
        }
        let group_version = GroupVersion::new(group, &*self.version);
        let resources = self
            .resources
            .into_iter()
            .filter_map(|resource| resource.into_resource(&group_version));
        ServerVersion::served(&self.version, resources.collect())
    }
}

impl AggregatedResource {
    /// `None` if the server does not say what the objects are: it lists a name for the sake of its subresources.
    fn into_resource(self, group_version: &GroupVersion) -> Option<ServerResource> {
        let kind = self.response_kind.into_kind(group_version)?;
        let subresources = self.subresources.into_iter().map(|part| Subresource {
            name: part.subresource,
            kind: part
                .response_kind
                .into_kind(group_version)
                .unwrap_or_else(|| kind.clone()),
            verbs: part.verbs,
        });
        Some(ServerResource {
            resource: group_version.with_resource(self.resource),
            subresources: subresources.collect(),
            kind,
            singular_name: self.singular_resource,
            scope: if self.scope == "Namespaced" {
                Scope::Namespaced
            } else {
                Scope::Cluster
            },
            verbs: self.verbs,
            short_names: self.short_names,
            categories: self.categories,
        })
    }
}

impl AggregatedKind {
    fn into_kind(self, group_version: &GroupVersion) -> Option<GroupVersionKind> {
        let Self {
            group,
            version,
            kind,
        } = self;
        let named = GroupVersionKind {
            group,
            version,
            kind,
        };
        (!named.kind.is_empty()).then(|| or_within(named, group_version))
    }
}

// === The plain form ===

#[derive(Deserialize)]
struct PlainVersions {
    #[serde(default, deserialize_with = "null_as_default")]
    versions: Vec<String>,
}

#[derive(Deserialize)]
struct PlainGroupList {
    #[serde(default, deserialize_with = "null_as_default")]
    groups: Vec<PlainGroup>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainGroup {
    name: String,
    #[serde(default, deserialize_with = "null_as_default")]
    versions: Vec<PlainVersion>,
    #[serde(default)]
    preferred_version: Option<PlainVersion>,
}

#[derive(Deserialize)]
struct PlainVersion {
    version: String,
}

#[derive(Deserialize)]
struct PlainResourceList {
    #[serde(default, deserialize_with = "null_as_default")]
    resources: Vec<PlainResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlainResource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    group: String,
    #[serde(default)]
    version: String,
    kind: String,
    #[serde(default, deserialize_with = "null_as_default")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    short_names: Vec<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    categories: Vec<String>,
}

impl PlainGroup {
    fn into_outline(self) -> GroupOutline {
        let preferred = self.preferred_version.map(|preferred| preferred.version);
        GroupOutline {
            name: self.name,
            versions: self.versions.into_iter().map(|it| it.version).collect(),
            preferred_version: preferred.filter(|version| !version.is_empty()),
        }
    }
}

fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
