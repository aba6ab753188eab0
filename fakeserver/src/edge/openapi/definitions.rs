//! The types that documents refer to, and the types that each of those needs.
//!
//! A definition is a schema whose references are names of definitions. It is the same for both versions of OpenAPI, which
//! differ in how they write a reference.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::{Map, Value};

use super::custom;
use crate::{
    kinds::ResourceType,
    value::{
        resource::GroupVersionKind,
        schema::{STRUCTURE, schemas},
    },
};

/// The definitions of the built-in types.
static BUILTIN: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let mut document: Map<String, Value> =
        serde_json::from_str(STRUCTURE).expect("the embedded schemas are JSON");
    let Some(Value::Object(mut definitions)) = document.remove("definitions") else {
        unreachable!("the embedded schemas are definitions");
    };
    definitions.values_mut().for_each(describe);
    definitions
});

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

/// The definitions of a document: the built-in ones, and those of its custom resources.
#[derive(Debug)]
pub(super) struct Definitions {
    dialect: Dialect,
    custom: BTreeMap<String, Value>,
}

/// The name of the definition of a kind, which is that of `resource`, of a list of it, or of a part of it.
pub(super) fn definition_name(resource: &ResourceType, kind: &GroupVersionKind) -> Option<String> {
    if resource.rules.is_custom() && kind.group == resource.group {
        return Some(custom::name(kind));
    }
    let name = schemas().definition_name(&kind.group, &kind.version, &kind.kind)?;
    Some(name.to_owned())
}

// === impl Definitions ===

impl Definitions {
    /// The built-in definitions, and those of the custom ones among `resources`.
    pub(super) fn new<'r>(
        dialect: Dialect,
        resources: impl Iterator<Item = &'r ResourceType>,
    ) -> Self {
        let custom = resources.flat_map(|resource| custom::definitions(resource, dialect));
        Self {
            dialect,
            custom: custom.collect(),
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
        self.custom.get(name).or_else(|| BUILTIN.get(name))
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

/// Says in a few words what the fields are that all objects have. The schemas themselves have no prose.
fn describe(definition: &mut Value) {
    if definition["x-kubernetes-group-version-kind"].is_null() {
        return;
    }
    let Some(properties) = definition["properties"].as_object_mut() else {
        return;
    };
    for (name, property) in properties {
        if let (Some(prose), Some(property)) = (prose(name), property.as_object_mut()) {
            property.insert("description".to_owned(), prose.into());
        }
    }
}

/// Returns the description of a field that means the same in every kind.
pub(super) fn prose(field: &str) -> Option<&'static str> {
    Some(match field {
        "apiVersion" => "The group and version of the API in which the object is written.",
        "kind" => "What the object is, in the words of its API version.",
        "metadata" => "What all objects have: name, namespace, labels, versions.",
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

    /// `schema` as it is written in this version.
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
                // Version 2 has no alternatives: of what is a string or a number, it says a string.
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
            written.insert("allOf".to_owned(), serde_json::json!([{"$ref": reference}]));
        }
    }
}
