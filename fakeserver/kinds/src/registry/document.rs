//! Reads the aggregated discovery of a version of Kubernetes.

use std::sync::Arc;

use fakeserver_value::resource::{GroupVersionKind, api_version};
use fakeserver_versions::KubernetesVersion;
use serde::Deserialize;

use super::{ELECTIONS, Group, Version};
use crate::{
    Kind, KindRef, ResourceType, Subresource, built_in, conversion::form_of, coordination::lease,
};

/// Finds the rules of a resource that discovery names.
type Rules = fn(&str, &str) -> Option<&'static Kind>;

/// The discovery of a server: `items` of `/api` and of `/apis`, and the versions that a feature gate adds.
#[derive(Deserialize)]
struct Document {
    core: Vec<WireGroup>,
    groups: Vec<WireGroup>,
    /// The versions that change with a feature gate.
    gated: Vec<Gated>,
}

/// The versions of a group with a feature gate.
#[derive(Deserialize)]
struct Gated {
    /// Without a name it is that of elections that the server holds.
    #[serde(default)]
    gate: Option<String>,
    #[serde(flatten)]
    group: WireGroup,
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
pub(super) fn builtin_groups(kubernetes: KubernetesVersion) -> Vec<Group> {
    let document = document(kubernetes);
    let groups = document.core.into_iter().chain(document.groups);
    groups
        .map(|group| group.into_group(kubernetes, built_in))
        .collect()
}

/// The same with what feature gates add.
pub(super) fn gated_groups(kubernetes: KubernetesVersion, gates: &[&str]) -> Vec<Group> {
    let rules = |group: &str, plural: &str| match (group, plural) {
        ("coordination.k8s.io", "leases") => Some(&lease::COORDINATED),
        _ => built_in(group, plural),
    };
    let mut groups = builtin_groups(kubernetes);
    for Gated { gate, group } in document(kubernetes).gated {
        if !gates.contains(&gate.as_deref().unwrap_or(ELECTIONS)) {
            continue;
        }
        let extended = group.into_group(kubernetes, rules);
        match groups.iter_mut().find(|group| group.name == extended.name) {
            Some(group) => group.versions = extended.versions,
            None => groups.push(extended),
        }
    }
    groups
}

fn document(kubernetes: KubernetesVersion) -> Document {
    serde_json::from_str(&kubernetes.discovery()).expect("the embedded discovery document is valid")
}

// === impl WireGroup ===

impl WireGroup {
    fn into_group(self, kubernetes: KubernetesVersion, rules: Rules) -> Group {
        let name = self.metadata.name;
        let versions = self.versions.into_iter().map(|version| Version {
            resources: version
                .resources
                .into_iter()
                .map(|resource| {
                    Arc::new(resource.into_type(kubernetes, &name, &version.version, rules))
                })
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
    fn into_type(
        self,
        kubernetes: KubernetesVersion,
        group: &Arc<str>,
        version: &Arc<str>,
        rules: Rules,
    ) -> ResourceType {
        let found = rules(group, &self.resource);
        ResourceType {
            kubernetes,
            form: form_of(&api_version(group, version), &self.response_kind.kind),
            rules: KindRef::BuiltIn(
                found.expect("every resource of the embedded discovery has its kind"),
            ),
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

impl From<WireKind> for GroupVersionKind {
    fn from(wire: WireKind) -> Self {
        Self {
            group: wire.group,
            version: wire.version,
            kind: wire.kind,
        }
    }
}
