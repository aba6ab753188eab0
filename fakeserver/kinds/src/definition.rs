//! A parsed `CustomResourceDefinition`.

use std::sync::Arc;

use fakeserver_value::resource::{GroupResource, GroupVersionKind};
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use super::{
    Kind, KindRef, ResourceType, Subresource,
    custom_resources::{CustomType, compare_versions, conditions},
};

/// The verbs of every custom resource, in the order of discovery.
const VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];
/// The verbs that a definition does not have any more while its objects are deleted.
const WRITING_VERBS: [&str; 3] = ["patch", "create", "update"];
/// The verbs of its subresources.
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// A definition whose names are accepted.
#[derive(Debug)]
pub struct Definition {
    uid: String,
    /// The number of changes of the definition's spec.
    generation: i64,
    resource: GroupResource,
    /// One type for each version that is served, the preferred one first.
    served: Vec<Arc<ResourceType>>,
    is_terminating: bool,
}

// === impl Definition ===

impl Definition {
    /// Parses the definition `crd`; `None` if it is not established. Types are taken from `others` where it was read
    /// before: their schemas are expensive to read.
    pub fn parse(
        kubernetes: KubernetesVersion,
        crd: &Value,
        others: &[Arc<Self>],
    ) -> Option<Arc<Self>> {
        if !conditions::is_true(crd, "Established") {
            return None;
        }
        let metadata = &crd["metadata"];
        let uid = metadata["uid"].as_str().unwrap_or_default();
        let generation = metadata["generation"].as_i64().unwrap_or_default();
        let is_terminating = conditions::is_true(crd, "Terminating");
        let before = others.iter().find(|other| other.uid == uid);
        if let Some(before) = before
            && before.generation == generation
            && before.is_terminating == is_terminating
        {
            return Some(Arc::clone(before));
        }
        let group: Arc<str> = text(&crd["spec"]["group"]);
        let plural = text(&crd["spec"]["names"]["plural"]);
        let versions = Arc::new(crd["spec"]["versions"].clone());
        let each = versions.as_array().into_iter().flatten();
        let mut served: Vec<Arc<ResourceType>> = each
            .filter(|version| version["served"] == true)
            .map(|version| {
                let served = resource_type(crd, &versions, version, is_terminating);
                Arc::new(ResourceType {
                    kubernetes,
                    ..served
                })
            })
            .collect();
        served.sort_by(|a, b| compare_versions(&a.version, &b.version));
        Some(Arc::new(Self {
            uid: uid.to_owned(),
            generation,
            resource: GroupResource::new(group, plural),
            served,
            is_terminating,
        }))
    }

    /// Returns the same definition in a server of another version of Kubernetes.
    pub fn in_version(&self, kubernetes: KubernetesVersion) -> Arc<Self> {
        let types = self.served.iter().map(|served| {
            Arc::new(ResourceType {
                kubernetes,
                ..ResourceType::clone(served)
            })
        });
        Arc::new(Self {
            uid: self.uid.clone(),
            generation: self.generation,
            resource: self.resource.clone(),
            served: types.collect(),
            is_terminating: self.is_terminating,
        })
    }

    /// Returns the key of its resource in the store.
    pub fn resource(&self) -> &GroupResource {
        &self.resource
    }

    /// The types that it defines, the preferred version first.
    pub fn served(&self) -> &[Arc<ResourceType>] {
        &self.served
    }

    /// Returns whether objects of it look different than by `other`, so that watches have to begin again.
    pub fn differs_from(&self, other: &Self) -> bool {
        self.uid != other.uid || self.generation != other.generation
    }
}

fn resource_type(
    crd: &Value,
    versions: &Arc<Value>,
    version: &Value,
    is_terminating: bool,
) -> ResourceType {
    let names = &crd["spec"]["names"];
    let group = text(&crd["spec"]["group"]);
    let kind = text(&names["kind"]);
    let below = |name: &str, kind: GroupVersionKind| Subresource {
        name: name.into(),
        kind,
        verbs: SUBRESOURCE_VERBS.map(Arc::from).to_vec(),
    };
    let subresources = &version["subresources"];
    let status = (!subresources["status"].is_null()).then(|| {
        let own = GroupVersionKind {
            group: "".into(),
            version: "".into(),
            kind: Arc::clone(&kind),
        };
        below("status", own)
    });
    let scale = (!subresources["scale"].is_null()).then(|| {
        let scale = GroupVersionKind {
            group: "autoscaling".into(),
            version: "v1".into(),
            kind: "Scale".into(),
        };
        below("scale", scale)
    });
    let plural = text(&names["plural"]);
    let custom = CustomType::new(crd, versions, version, is_terminating);
    let rules = Kind::custom(&group, &plural, custom, status.is_some());
    ResourceType {
        kubernetes: KubernetesVersion::DEFAULT,
        form: None,
        rules: KindRef::Custom(Arc::new(rules)),
        group,
        version: text(&version["name"]),
        plural,
        singular: text(&names["singular"]),
        kind,
        list_kind: names["listKind"].as_str().map(Arc::from),
        is_namespaced: crd["spec"]["scope"] == "Namespaced",
        verbs: VERBS
            .into_iter()
            .filter(|verb| !is_terminating || !WRITING_VERBS.contains(verb))
            .map(Arc::from)
            .collect(),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        subresources: status.into_iter().chain(scale).collect(),
    }
}

fn text(value: &Value) -> Arc<str> {
    value.as_str().unwrap_or_default().into()
}

fn texts(list: &Value) -> Vec<Arc<str>> {
    list.as_array().into_iter().flatten().map(text).collect()
}
