//! The types that documents refer to, with their transitive references.
//!
//! A definition is a schema whose references are names of definitions. It is the same for both versions of OpenAPI, which
//! differ in how they write a reference.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_kinds::ResourceType;
use fakeserver_value::{
    resource::GroupVersionKind,
    schema::{schemas_in, types_in},
};
use fakeserver_versions::{KubernetesVersion, PerVersion};
use serde_json::{Map, Value, json};

use super::{
    custom, metadata,
    operations::{DELETE_OPTIONS, WATCH_EVENT},
};

/// Returns the definitions of the built-in types of a version of Kubernetes.
fn builtin(kubernetes: KubernetesVersion) -> &'static BTreeMap<String, Value> {
    static BUILTIN: PerVersion<BTreeMap<String, Value>> = PerVersion::new();
    BUILTIN.get_or_init(kubernetes, || {
        let mut document: Map<String, Value> =
            serde_json::from_str(&kubernetes.openapi_structure())
                .expect("the embedded schemas are JSON");
        let Some(Value::Object(mut definitions)) = document.remove("definitions") else {
            unreachable!("the embedded schemas are definitions");
        };
        let has_item_defaults = !kubernetes.gates().is_on("ItemsWithoutDefaults");
        for (name, definition) in &mut definitions {
            describe(name, definition);
            complete(kubernetes, name, definition);
            if has_item_defaults {
                complete_items(kubernetes, definition);
            }
        }
        definitions.into_iter().collect()
    })
}

/// The groups and versions that the options of deletions are registered in.
const REGISTERED: [(&str, &str); 22] = [
    ("", "v1"),
    ("admissionregistration.k8s.io", "v1 v1alpha1 v1beta1"),
    ("apps", "v1 v1beta1 v1beta2"),
    ("authentication.k8s.io", "v1 v1alpha1 v1beta1"),
    ("authorization.k8s.io", "v1 v1beta1"),
    ("autoscaling", "v1 v2"),
    ("batch", "v1 v1beta1"),
    ("certificates.k8s.io", "v1 v1alpha1 v1beta1"),
    ("coordination.k8s.io", "v1 v1alpha2 v1beta1"),
    ("discovery.k8s.io", "v1 v1beta1"),
    ("events.k8s.io", "v1 v1beta1"),
    ("extensions", "v1beta1"),
    ("flowcontrol.apiserver.k8s.io", "v1 v1beta1 v1beta2 v1beta3"),
    ("internal.apiserver.k8s.io", "v1alpha1"),
    ("networking.k8s.io", "v1 v1beta1"),
    ("node.k8s.io", "v1 v1alpha1 v1beta1"),
    ("policy", "v1 v1beta1"),
    ("rbac.authorization.k8s.io", "v1 v1alpha1 v1beta1"),
    ("resource.k8s.io", "v1 v1alpha3 v1beta1 v1beta2"),
    ("scheduling.k8s.io", "v1 v1alpha2 v1beta1"),
    ("storage.k8s.io", "v1 v1alpha1 v1beta1"),
    ("storagemigration.k8s.io", "v1beta1"),
];

/// The fields of other types that a real server does not describe, by their definition.
const UNDESCRIBED: [(&str, &[&str]); 2] = [
    ("io.k8s.api.networking.v1.IngressRule", &["http"]),
    (
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
        &[
            "additionalItems",
            "additionalProperties",
            "example",
            "externalDocs",
            "items",
            "not",
        ],
    ),
];

/// The members of a schema that hold one schema.
const NESTED: [&str; 3] = ["items", "additionalProperties", "not"];
/// The members that hold a list of schemas.
const LISTED: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Which version of OpenAPI a definition is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    V2,
    V3,
}

/// The definitions of a document: the built-in ones, and those that it has alone.
#[derive(Debug)]
pub(super) struct Definitions {
    kubernetes: KubernetesVersion,
    dialect: Dialect,
    own: BTreeMap<String, Value>,
}

/// The name of the definition of a kind, which is that of `resource`, of a list of it, or of a part of it.
pub(super) fn definition_name(resource: &ResourceType, kind: &GroupVersionKind) -> Option<String> {
    if resource.rules.is_custom() && kind.group == resource.group {
        return Some(custom::name(kind));
    }
    let name =
        schemas_in(resource.kubernetes).definition_name(&kind.group, &kind.version, &kind.kind)?;
    Some(name.to_owned())
}

// === impl Definitions ===

impl Definitions {
    /// The built-in definitions, and those of the custom ones among `resources`. Kinds that are registered in many groups
    /// are those of the core group and of `version`, or of all.
    pub(super) fn new<'r>(
        kubernetes: KubernetesVersion,
        dialect: Dialect,
        version: Option<(&str, &str)>,
        resources: impl Iterator<Item = &'r ResourceType>,
    ) -> Self {
        let custom = resources.flat_map(|resource| custom::definitions(resource, dialect));
        let mut own: BTreeMap<String, Value> = custom.collect();
        for name in [DELETE_OPTIONS, WATCH_EVENT] {
            if let Some(definition) = builtin(kubernetes).get(name) {
                let kind = name.rsplit('.').next().unwrap_or_default();
                let mut definition = definition.clone();
                let kinds = &mut definition["x-kubernetes-group-version-kind"];
                // A version that tells all groups in every document has them in its schemas.
                if kinds.as_array().is_none_or(|kinds| kinds.len() <= 1) {
                    *kinds = registered(kind, version);
                }
                own.insert(name.to_owned(), definition);
            }
        }
        Self {
            kubernetes,
            dialect,
            own,
        }
    }

    /// The definitions that are named by `roots`, and all that these need, as the dialect writes them.
    pub(super) fn closure(&self, roots: impl IntoIterator<Item = String>) -> Map<String, Value> {
        let mut found = Map::new();
        let mut open: Vec<String> = roots.into_iter().collect();
        while let Some(name) = open.pop() {
            if found.contains_key(&name) {
                continue;
            }
            let Some(definition) = self.get(&name) else {
                debug_assert!(false, "{name} is not defined");
                continue;
            };
            open.extend(references(definition));
            found.insert(name, self.dialect.schema(definition));
        }
        found
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let own = self.own.get(name);
        own.or_else(|| builtin(self.kubernetes).get(name))
    }
}

/// The definitions that a schema refers to.
fn references(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Some(members) = schema.as_object() else {
            continue;
        };
        for (name, member) in members {
            match (name.as_str(), member) {
                ("$ref", Value::String(target)) => {
                    found.insert(target.clone());
                }
                ("properties", Value::Object(properties)) => open.extend(properties.values()),
                (name, member) if NESTED.contains(&name) => open.push(member),
                (name, Value::Array(listed)) if LISTED.contains(&name) => open.extend(listed),
                _ => {}
            }
        }
    }
    found
}

/// Returns whether these schemas are one reference.
fn is_reference(all: &[Value]) -> bool {
    matches!(all, [one] if one["$ref"].is_string())
}

/// Returns the groups and versions that `kind` is registered in: the core group and `version`, or all.
fn registered(kind: &str, version: Option<(&str, &str)>) -> Value {
    let all = REGISTERED
        .iter()
        .flat_map(|(group, versions)| versions.split(' ').map(move |version| (*group, version)));
    let all: BTreeSet<(&str, &str)> = match version {
        Some(version) => [("", "v1"), version].into(),
        None => all.collect(),
    };
    let all = all.into_iter();
    all.map(|(group, version)| json!({"group": group, "version": version, "kind": kind}))
        .collect()
}

/// Completes the fields of a definition that are of other types. A required struct field has a default, and a described
/// field wraps its reference in `allOf`.
fn complete(kubernetes: KubernetesVersion, definition: &str, schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let Some(target) = property["$ref"].as_str().map(str::to_owned) else {
            continue;
        };
        let is_object = has_properties(kubernetes, &target);
        let ty = types_in(kubernetes).find(definition);
        let field = ty.and_then(|ty| ty.table().field(ty, name));
        if is_object && field.is_some_and(|field| !field.pointer) {
            property["default"] = json!({});
        }
        let mut undescribed = UNDESCRIBED.iter();
        if !undescribed.any(|(other, fields)| *other == definition && fields.contains(&&**name))
            && let Some(members) = property.as_object_mut()
        {
            members.remove("$ref");
            members.insert("allOf".to_owned(), json!([{"$ref": target}]));
        }
    }
}

/// Gives the items of lists and the values of maps that are structs their default.
fn complete_items(kubernetes: KubernetesVersion, schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, property) in properties.into_iter().flatten() {
        for member in ["items", "additionalProperties"] {
            let Some(items) = property.get_mut(member).and_then(Value::as_object_mut) else {
                continue;
            };
            let Some(target) = items.get("$ref").and_then(Value::as_str) else {
                continue;
            };
            if has_properties(kubernetes, target) {
                *items = serde_json::Map::from_iter([
                    ("allOf".to_owned(), json!([{"$ref": target}])),
                    ("default".to_owned(), json!({})),
                ]);
            }
        }
    }
}

/// Returns whether a definition is that of a struct.
fn has_properties(kubernetes: KubernetesVersion, definition: &str) -> bool {
    let found = schemas_in(kubernetes).of_definition(definition);
    found.is_some_and(|found| found.properties().next().is_some())
}

/// Describes the fields that all objects have, and those of their metadata. The schemas themselves have no prose.
fn describe(name: &str, definition: &mut Value) {
    let prose = match name {
        metadata::OBJECT_META => metadata::description,
        _ if definition["x-kubernetes-group-version-kind"].is_null() => return,
        _ => prose,
    };
    let properties = definition.get_mut("properties");
    let properties = properties.and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if let (Some(prose), Some(property)) = (prose(name), property.as_object_mut()) {
            property.insert("description".to_owned(), prose.into());
        }
    }
}

/// Returns the description of a field that means the same in every kind.
pub(super) fn prose(field: &str) -> Option<&'static str> {
    Some(match field {
        "apiVersion" => {
            "APIVersion defines the versioned schema of this representation of an object. Servers should convert \
             recognized schemas to the latest internal value, and may reject unrecognized values. More info: \
             https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
        }
        "kind" => {
            "Kind is a string value representing the REST resource this object represents. Servers may infer this from \
             the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: \
             https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
        }
        "metadata" => {
            "Standard object's metadata. More info: \
             https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
        }
        "spec" => "What is wanted.",
        "status" => "What was last seen; the system writes it.",
        "items" => "The objects of the list.",
        _ => return None,
    })
}

// === impl Dialect ===

impl Dialect {
    /// Returns the reference to a definition.
    pub(super) fn reference(self, name: &str) -> String {
        match self {
            Self::V2 => format!("#/definitions/{name}"),
            Self::V3 => format!("#/components/schemas/{name}"),
        }
    }

    /// Converts `schema` to this version.
    fn schema(self, schema: &Value) -> Value {
        let Value::Object(members) = schema else {
            return schema.clone();
        };
        let mut written = Map::new();
        for (name, member) in members {
            let value = match (name.as_str(), member) {
                ("$ref", Value::String(target)) => {
                    self.put_reference(&mut written, target, members.len() == 1);
                    continue;
                }
                // Version 2 is published without defaults.
                ("default", _) if self == Self::V2 => continue,
                ("allOf", Value::Array(all)) if self == Self::V2 && is_reference(all) => {
                    written.insert("$ref".to_owned(), self.schema(&all[0])["$ref"].take());
                    continue;
                }
                // Version 2 has no alternatives: an int-or-string is a string there.
                ("oneOf", _) if self == Self::V2 => {
                    written.entry("type").or_insert_with(|| "string".into());
                    continue;
                }
                ("properties", Value::Object(properties)) => properties
                    .iter()
                    .map(|(name, property)| (name.clone(), self.schema(property)))
                    .collect(),
                (name, member) if NESTED.contains(&name) => self.schema(member),
                (name, Value::Array(listed)) if LISTED.contains(&name) => {
                    listed.iter().map(|schema| self.schema(schema)).collect()
                }
                (_, member) => member.clone(),
            };
            written.insert(name.clone(), value);
        }
        written.into()
    }

    /// In version 3, nothing may stand beside a reference.
    fn put_reference(self, written: &mut Map<String, Value>, target: &str, is_alone: bool) {
        let reference = Value::from(self.reference(target));
        if is_alone || self == Self::V2 {
            written.insert("$ref".to_owned(), reference);
        } else {
            written.insert("allOf".to_owned(), json!([{"$ref": reference}]));
        }
    }
}
