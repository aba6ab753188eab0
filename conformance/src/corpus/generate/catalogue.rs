//! The kinds that a server serves, from its documents, and samples of their objects.

use std::collections::BTreeSet;

use fakeserver::value::yaml;
use serde_json::{Value, json};

use super::{
    schema::Schemas,
    subject::{GROUP, Subject, Subresource, namespace_of},
    value,
};
use crate::seed::Seed;

/// The valid objects in the program.
const SAMPLES: [&str; 6] = [
    include_str!("../../../data/samples/core.yaml"),
    include_str!("../../../data/samples/workloads.yaml"),
    include_str!("../../../data/samples/network.yaml"),
    include_str!("../../../data/samples/storage.yaml"),
    include_str!("../../../data/samples/admission.yaml"),
    include_str!("../../../data/samples/custom.yaml"),
];
/// The verbs of a resource that requests can be about.
const NEEDED: [&str; 4] = ["create", "get", "list", "patch"];

/// The kinds and their schemas.
#[derive(Clone, Debug)]
pub(super) struct Catalogue {
    pub(super) subjects: Vec<Subject>,
    pub(super) schemas: Schemas,
}

/// A served resource, from discovery.
struct ServedResource {
    group: String,
    version: String,
    kind: String,
    plural: String,
    is_namespaced: bool,
    subresources: Vec<Subresource>,
}

// === impl Catalogue ===

impl Catalogue {
    /// Reads aggregated discovery documents and OpenAPI v3 documents.
    pub(super) fn read(discovery: &[Value], openapi: &[Value]) -> Self {
        let mut schemas = Schemas::default();
        let samples = samples();
        let definitions = || {
            samples
                .iter()
                .filter(|sample| sample["kind"] == "CustomResourceDefinition")
        };
        for definition in definitions() {
            schemas.add_definition(&without_number(definition));
        }
        for document in openapi {
            schemas.add(document);
        }
        let mut served: Vec<ServedResource> = discovery.iter().flat_map(served).collect();
        served.retain(|served| served.group != GROUP);
        served.extend(definitions().flat_map(|definition| defined(&without_number(definition))));
        let mut keys = BTreeSet::new();
        let mut subjects = Vec::new();
        for served in &served {
            let of_kind = samples.iter().filter(|sample| served.is_kind_of(sample));
            let found: Vec<Value> = of_kind.cloned().collect();
            let mut subject = served.subject(found, &schemas);
            subject.key = unique(&mut keys, served);
            subjects.push(subject);
        }
        Self { subjects, schemas }
    }
}

// === impl ServedResource ===

impl ServedResource {
    fn is_kind_of(&self, sample: &Value) -> bool {
        sample["kind"] == self.kind && sample["apiVersion"] == self.api_version()
    }

    fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Makes a subject; without samples it gets one of the schema, which may be invalid and is not in the set-up.
    fn subject(&self, mut samples: Vec<Value>, schemas: &Schemas) -> Subject {
        let has_object = !samples.is_empty();
        if samples.is_empty() {
            samples.push(self.made_up(schemas));
        }
        let namespace = self.is_namespaced.then(|| namespace_of(&samples[0]));
        let root = if self.group.is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let api_version = self.api_version();
        let place = match &namespace {
            Some(namespace) => format!("namespaces/{namespace}/{}", self.plural),
            None => self.plural.clone(),
        };
        let is_built_in = schemas
            .of_kind(&self.group, &self.version, &self.kind)
            .is_some_and(|schema| {
                schema.name().starts_with("io.k8s.") && schema.field("metadata").is_some()
            });
        Subject {
            key: String::new(),
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            collection: format!("{root}/{api_version}/{place}"),
            namespace,
            subresources: self.subresources.clone(),
            samples,
            is_built_in,
            has_object,
        }
    }

    /// Makes an object of the schema, always the same one.
    fn made_up(&self, schemas: &Schemas) -> Value {
        let schema = schemas.of_kind(&self.group, &self.version, &self.kind);
        let mut generator = Seed::new(1).stream(&self.kind);
        let mut object =
            schema.map_or_else(|| json!({}), |schema| value::of(&mut generator, schema, ""));
        object["apiVersion"] = json!(self.api_version());
        object["kind"] = json!(self.kind);
        object["metadata"] = json!({});
        if let Some(fields) = object.as_object_mut() {
            fields.remove("status");
        }
        object
    }
}

/// Returns a short name that no other kind has: that of the kind, with the group or the version if need be.
fn unique(keys: &mut BTreeSet<String>, served: &ServedResource) -> String {
    let kind = served.kind.to_lowercase();
    let candidates = [
        kind.clone(),
        format!("{kind}.{}", served.version),
        format!("{kind}.{}", served.group),
        format!("{kind}.{}.{}", served.version, served.group),
    ];
    let free = candidates
        .iter()
        .find(|candidate| !keys.contains(*candidate));
    let key = free.unwrap_or(&candidates[3]).clone();
    keys.insert(key.clone());
    key
}

/// Returns the valid objects of all kinds.
pub(super) fn samples() -> Vec<Value> {
    let parsed =
        |text: &&str| -> Vec<Value> { yaml::from_str(text).expect("a test reads every one") };
    SAMPLES.iter().flat_map(parsed).collect()
}

fn without_number(definition: &Value) -> Value {
    let text = definition.to_string().replace("{n}", "");
    serde_json::from_str(&text).expect("a text is replaced within texts")
}

/// Returns the resources of an aggregated discovery document.
fn served(document: &Value) -> Vec<ServedResource> {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut served = Vec::new();
    for group in items(&document["items"]) {
        for version in items(&group["versions"]) {
            for resource in items(&version["resources"]) {
                let verbs = texts(&resource["verbs"]);
                let is_usable = NEEDED
                    .iter()
                    .all(|needed| verbs.iter().any(|verb| verb == needed));
                if !is_usable {
                    continue;
                }
                let subresources = items(&resource["subresources"]).into_iter();
                served.push(ServedResource {
                    group: text(&group["metadata"]["name"]),
                    version: text(&version["version"]),
                    kind: text(&resource["responseKind"]["kind"]),
                    plural: text(&resource["resource"]),
                    is_namespaced: resource["scope"] == "Namespaced",
                    subresources: subresources
                        .map(|subresource| Subresource {
                            name: text(&subresource["subresource"]),
                            verbs: texts(&subresource["verbs"]),
                        })
                        .collect(),
                });
            }
        }
    }
    served
}

/// Returns the resources of a definition, one for each version.
fn defined(definition: &Value) -> Vec<ServedResource> {
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array().into_iter().flatten();
    let verbs = || ["get", "patch", "update"].map(str::to_owned).to_vec();
    let of_version = |version: &Value| {
        let subresources = version["subresources"].as_object().into_iter().flatten();
        ServedResource {
            group: text(&spec["group"]),
            version: text(&version["name"]),
            kind: text(&spec["names"]["kind"]),
            plural: text(&spec["names"]["plural"]),
            is_namespaced: spec["scope"] == "Namespaced",
            subresources: subresources
                .map(|(name, _)| Subresource {
                    name: name.clone(),
                    verbs: verbs(),
                })
                .collect(),
        }
    };
    versions.map(of_version).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}
