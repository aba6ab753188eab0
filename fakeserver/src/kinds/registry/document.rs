//! Reads the recorded aggregated discovery of a real server.

use std::sync::Arc;

use serde::Deserialize;

use super::{Group, Version};
use crate::{
    kinds::{KindRef, ResourceType, Subresource, built_in, conversion::form_of},
    value::resource::{GroupVersionKind, api_version},
};

/// The discovery of a kube-apiserver 1.36.2, `items` of `/api` and of `/apis`.
const BUILTIN: &str = include_str!("../../../data/discovery.json");

#[derive(Deserialize)]
struct Document {
    core: Vec<WireGroup>,
    groups: Vec<WireGroup>,
}

#[derive(Deserialize)]
struct WireGroup {
    metadata: WireMeta,
    versions: Vec<WireVersion>,
}

#[derive(Deserialize)]
struct WireMeta {
    #[serde(default)]
    name: Arc<str>,
}

#[derive(Deserialize)]
struct WireVersion {
    version: Arc<str>,
    resources: Vec<WireResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireResource {
    resource: Arc<str>,
    response_kind: WireKind,
    scope: String,
    singular_resource: Arc<str>,
    verbs: Vec<Arc<str>>,
    #[serde(default)]
    short_names: Vec<Arc<str>>,
    #[serde(default)]
    categories: Vec<Arc<str>>,
    #[serde(default)]
    subresources: Vec<WireSubresource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSubresource {
    subresource: Arc<str>,
    response_kind: WireKind,
    verbs: Vec<Arc<str>>,
}

#[derive(Deserialize)]
struct WireKind {
    group: Arc<str>,
    version: Arc<str>,
    kind: Arc<str>,
}

/// The core group, then the others in the order of discovery.
pub(super) fn builtin_groups() -> Vec<Group> {
    let document: Document =
        serde_json::from_str(BUILTIN).expect("the embedded discovery document is valid");
    document
        .core
        .into_iter()
        .chain(document.groups)
        .map(WireGroup::into_group)
        .collect()
}

// === impl WireGroup ===

impl WireGroup {
    fn into_group(self) -> Group {
        let name = self.metadata.name;
        let versions = self.versions.into_iter().map(|version| Version {
            resources: version
                .resources
                .into_iter()
                .map(|resource| Arc::new(resource.into_type(&name, &version.version)))
                .collect(),
            name: version.version,
        });
        Group {
            versions: versions.collect(),
            name,
            is_custom: false,
        }
    }
}

// === impl WireResource ===

impl WireResource {
    fn into_type(self, group: &Arc<str>, version: &Arc<str>) -> ResourceType {
        ResourceType {
            form: form_of(&api_version(group, version), &self.response_kind.kind),
            rules: rules_of(group, &self.resource),
            group: Arc::clone(group),
            version: Arc::clone(version),
            plural: self.resource,
            singular: self.singular_resource,
            kind: self.response_kind.kind,
            list_kind: None,
            is_namespaced: self.scope == "Namespaced",
            verbs: self.verbs,
            short_names: self.short_names,
            categories: self.categories,
            subresources: self
                .subresources
                .into_iter()
                .map(|subresource| Subresource {
                    name: subresource.subresource,
                    kind: subresource.response_kind.into(),
                    verbs: subresource.verbs,
                })
                .collect(),
        }
    }
}

/// Returns the rules of a resource that discovery names.
fn rules_of(group: &str, plural: &str) -> KindRef {
    let found = built_in(group, plural);
    KindRef::BuiltIn(found.expect("every resource of the embedded discovery has its kind"))
}

impl From<WireKind> for GroupVersionKind {
    fn from(wire: WireKind) -> Self {
        Self {
            group: wire.group,
            version: wire.version,
            kind: wire.kind,
        }
    }
}
