//! Reads schemas from their JSON into an arena.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::arena::{ListType, Node, PatchStrategy, SchemaId, SchemaType, Schemas, ServedSchema};

/// Reads the definitions of an OpenAPI document whose references are plain names.
pub(super) fn definitions(text: &str) -> Schemas {
    let document: Value = serde_json::from_str(text).expect("the embedded schemas are JSON");
    let definitions = document["definitions"]
        .as_object()
        .expect("the embedded schemas are definitions");
    let mut loader = Loader::default();
    // Definitions come first, so that references are known before they are met.
    for name in definitions.keys() {
        let id = loader.push(Node::default());
        loader.schemas.by_name.insert(name.clone(), id);
    }
    for (name, schema) in definitions {
        let id = loader.schemas.by_name[name];
        let mut node = loader.node(schema);
        node.name = Some(name.clone());
        // A Go type that prints as an object without declared fields holds any JSON.
        if node.ty == SchemaType::Object && node.properties.is_empty() {
            node.preserve_unknown = true;
            if node.additional.is_none() {
                // Apply treats it as one value.
                node.atomic_map = Some(true);
            }
        }
        loader.schemas.nodes[id.0 as usize] = node;
        for kind in schema["x-kubernetes-group-version-kind"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let part = |name: &str| kind[name].as_str().unwrap_or_default().to_owned();
            let served = loader.schemas.by_kind.entry(part("kind")).or_default();
            served.push(ServedSchema {
                group: part("group"),
                version: part("version"),
                id,
            });
        }
    }
    loader.schemas
}

/// Reads one schema without references.
pub(super) fn custom_resource(schema: &Value) -> (Schemas, SchemaId) {
    let mut loader = Loader::default();
    let id = loader.intern(schema);
    (loader.schemas, id)
}

#[derive(Default)]
struct Loader {
    schemas: Schemas,
    /// Schemas seen, by their text.
    interned: BTreeMap<String, SchemaId>,
}

// === impl Loader ===

impl Loader {
    /// Interns a schema: a bare reference becomes its target, and equal schemas share an id.
    fn intern(&mut self, schema: &Value) -> SchemaId {
        if let (Some(target), Some(1)) = (self.reference(schema), schema.as_object().map(Map::len))
        {
            return target;
        }
        let text = schema.to_string();
        if let Some(id) = self.interned.get(&text) {
            return *id;
        }
        let node = self.node(schema);
        let id = self.push(node);
        self.interned.insert(text, id);
        id
    }

    fn push(&mut self, node: Node) -> SchemaId {
        let id = u32::try_from(self.schemas.nodes.len()).expect("schemas are fewer than 2^32");
        self.schemas.nodes.push(node);
        SchemaId(id)
    }

    fn reference(&self, schema: &Value) -> Option<SchemaId> {
        let name = schema["$ref"].as_str()?;
        Some(
            *self
                .schemas
                .by_name
                .get(name)
                .expect("a reference names a definition"),
        )
    }

    fn node(&mut self, schema: &Value) -> Node {
        let flag = |name: &str| schema[name].as_bool().unwrap_or(false);
        let text = |name: &str| schema[name].as_str().map(str::to_owned);
        let mut properties = IndexMap::default();
        // The map is sorted, which the search for a property relies on.
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            properties.insert(name.clone(), self.intern(property));
        }
        Node {
            name: None,
            target: self.reference(schema),
            ty: schema_type(schema),
            format: text("format"),
            properties,
            additional: (schema.get("additionalProperties"))
                .filter(|additional| additional.is_object())
                .map(|additional| self.intern(additional)),
            items: schema.get("items").map(|items| self.intern(items)),
            required: strings(&schema["required"]),
            enums: schema["enum"].as_array().cloned().unwrap_or_default(),
            default: schema.get("default").cloned(),
            nullable: flag("nullable"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields")
                || schema["additionalProperties"] == true,
            embedded: flag("x-kubernetes-embedded-resource"),
            list_type: match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => ListType::Set,
                Some("map") => ListType::Map,
                _ => ListType::Atomic,
            },
            list_map_keys: strings(&schema["x-kubernetes-list-map-keys"]),
            atomic_map: (schema["x-kubernetes-map-type"].as_str()).map(|kind| kind == "atomic"),
            merge_key: text("x-kubernetes-patch-merge-key"),
            strategy: text("x-kubernetes-patch-strategy").map(|text| strategy(&text)),
        }
    }
}

fn schema_type(schema: &Value) -> SchemaType {
    let int_or_string =
        schema["x-kubernetes-int-or-string"] == true || schema["format"] == "int-or-string";
    match schema["type"].as_str() {
        _ if int_or_string => SchemaType::IntOrString,
        Some("object") => SchemaType::Object,
        Some("array") => SchemaType::Array,
        Some("string") => SchemaType::String,
        Some("integer") => SchemaType::Integer,
        Some("number") => SchemaType::Number,
        Some("boolean") => SchemaType::Boolean,
        _ => SchemaType::Any,
    }
}

fn strategy(text: &str) -> PatchStrategy {
    let has = |name: &str| text.split(',').any(|part| part == name);
    PatchStrategy {
        merge: has("merge"),
        replace: has("replace"),
        retain_keys: has("retainKeys"),
    }
}

fn strings(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
