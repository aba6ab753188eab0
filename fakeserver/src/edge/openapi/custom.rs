//! The definitions of custom resources.

use serde_json::{Value, json};

use super::definitions::{Dialect, prose};
use crate::{kinds::ResourceType, value::resource::GroupVersionKind};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The members of a schema that hold one schema.
const NESTED: [&str; 2] = ["items", "additionalProperties"];
/// The keywords that version 2 does not have.
const UNKNOWN_TO_V2: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "nullable"];

/// The name of the definition of a kind: `com.example.v1.Widget` of group `example.com`.
pub(super) fn name(kind: &GroupVersionKind) -> String {
    let mut parts: Vec<&str> = kind.group.split('.').collect();
    parts.reverse();
    format!("{}.{}.{}", parts.join("."), kind.version, kind.kind)
}

/// The definitions of the objects of a custom resource, and of a list of them; none of a built-in one.
pub(super) fn definitions(resource: &ResourceType, dialect: Dialect) -> Vec<(String, Value)> {
    let Some(custom) = resource.rules.as_custom() else {
        return Vec::new();
    };
    let kind = resource.group_version_kind();
    let list = GroupVersionKind {
        kind: resource.list_kind(),
        ..kind.clone()
    };
    let name_of_object = name(&kind);
    vec![
        (name(&list), list_definition(&list, &kind, &name_of_object)),
        (
            name_of_object,
            object_definition(custom.open_api_schema(), &kind, dialect),
        ),
    ]
}

fn object_definition(schema: &Value, kind: &GroupVersionKind, dialect: Dialect) -> Value {
    // Clients that validate by version 2 reject undeclared fields.
    let is_open = dialect == Dialect::V2 && preserves_unknown(schema);
    let mut definition = if is_open || !schema.is_object() {
        json!({"type": "object"})
    } else {
        let mut schema = schema.clone();
        if dialect == Dialect::V2 {
            reduce(&mut schema);
        }
        add_embedded(&mut schema);
        for field in ["apiVersion", "kind"] {
            schema["properties"][field] = described(json!({"type": "string"}), field);
        }
        schema["properties"]["metadata"] = metadata(OBJECT_META);
        schema
    };
    definition["x-kubernetes-group-version-kind"] = tagged(kind);
    definition
}

fn list_definition(list: &GroupVersionKind, item: &GroupVersionKind, item_name: &str) -> Value {
    json!({
        "description": format!("{} is a list of {}", list.kind, item.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": described(json!({"type": "string"}), "apiVersion"),
            "kind": described(json!({"type": "string"}), "kind"),
            "metadata": metadata(LIST_META),
            "items": described(json!({"type": "array", "items": {"$ref": item_name}}), "items"),
        },
        "x-kubernetes-group-version-kind": tagged(list),
    })
}

fn tagged(kind: &GroupVersionKind) -> Value {
    json!([{"group": &*kind.group, "version": &*kind.version, "kind": &*kind.kind}])
}

fn metadata(definition: &str) -> Value {
    described(json!({"$ref": definition}), "metadata")
}

fn described(mut schema: Value, field: &str) -> Value {
    schema["description"] = prose(field).into();
    schema
}

fn preserves_unknown(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

/// The schemas directly below `schema`.
fn nested(schema: &mut Value) -> impl Iterator<Item = &mut Value> {
    let members = schema.as_object_mut().into_iter().flatten();
    members.flat_map(|(name, member)| match (name.as_str(), member) {
        ("properties", Value::Object(properties)) => properties.values_mut().collect(),
        (name, member) if NESTED.contains(&name) => vec![member],
        _ => Vec::new(),
    })
}

/// Declares of embedded objects what all objects have.
fn add_embedded(schema: &mut Value) {
    nested(schema).for_each(add_embedded);
    if schema["x-kubernetes-embedded-resource"] != true {
        return;
    }
    for field in ["apiVersion", "kind"] {
        schema["properties"][field] = described(json!({"type": "string"}), field);
    }
    schema["properties"]["metadata"] = metadata(OBJECT_META);
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    for field in ["kind", "apiVersion"] {
        if !required.iter().any(|known| known == field) {
            required.push(field.into());
        }
    }
    schema["required"] = required.into();
}

/// Leaves out what version 2 cannot say. Where less is said, more is accepted.
fn reduce(schema: &mut Value) {
    let is_nullable = schema["nullable"] == true;
    let is_open = preserves_unknown(schema);
    let nullable: Vec<String> = (schema["properties"].as_object().into_iter().flatten())
        .filter(|(_, property)| property["nullable"] == true)
        .map(|(name, _)| name.clone())
        .collect();
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    for member in UNKNOWN_TO_V2 {
        members.remove(member);
    }
    if is_nullable || is_open {
        members.remove("items");
        members.remove("properties");
    }
    let is_bare_list =
        members.get("type").is_some_and(|ty| ty == "array") && !members.contains_key("items");
    if is_nullable || is_bare_list || is_open {
        members.remove("type");
    }
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| !nullable.iter().any(|nullable| name == nullable));
        if required.is_empty() {
            members.remove("required");
        }
    }
    nested(schema).for_each(reduce);
}
