//! The definitions of custom resources.

use fakeserver_kinds::{ResourceType, custom_resources::CustomType};
use fakeserver_value::resource::GroupVersionKind;
use serde_json::{Value, json};

use super::{
    definitions::{Dialect, prose},
    metadata::OBJECT_META,
};

/// The page that descriptions refer to.
const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The members of a schema that hold one schema.
const NESTED: [&str; 2] = ["items", "additionalProperties"];
/// The flags of a schema that are dropped if false.
const FLAGS: [&str; 7] = [
    "exclusiveMaximum",
    "exclusiveMinimum",
    "nullable",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
];
/// The lists of a schema that are dropped if empty.
const LISTS: [&str; 7] = [
    "allOf",
    "anyOf",
    "enum",
    "oneOf",
    "required",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
];
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
    vec![
        (name(&list), list_definition(custom, resource, &list, &kind)),
        (name(&kind), object_definition(custom, &kind, dialect)),
    ]
}

fn object_definition(custom: &CustomType, kind: &GroupVersionKind, dialect: Dialect) -> Value {
    let schema = custom.open_api_schema();
    // Clients that validate by version 2 reject undeclared fields.
    let is_open = dialect == Dialect::V2 && preserves_unknown(schema);
    let mut definition = if is_open || !schema.is_object() {
        json!({"type": "object"})
    } else {
        let mut schema = schema.clone();
        publish(&mut schema, dialect);
        add_embedded(&mut schema, dialect);
        for field in ["apiVersion", "kind"] {
            schema["properties"][field] = described(json!({"type": "string"}), field);
        }
        schema["properties"]["metadata"] = metadata(OBJECT_META);
        schema
    };
    tag(&mut definition, custom, kind);
    definition
}

fn list_definition(
    custom: &CustomType,
    resource: &ResourceType,
    list: &GroupVersionKind,
    item: &GroupVersionKind,
) -> Value {
    let mut definition = json!({
        "description": format!("{} is a list of {}", list.kind, item.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": described(json!({"type": "string"}), "apiVersion"),
            "kind": described(json!({"type": "string"}), "kind"),
            "metadata": {
                "$ref": LIST_META,
                "description": format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds"),
            },
            "items": {
                "type": "array",
                "items": {"$ref": name(item)},
                "description": format!("List of {}. More info: {CONVENTIONS}", resource.plural),
            },
        },
    });
    tag(&mut definition, custom, list);
    definition
}

/// Writes which kind it is, and by which of its fields it can be selected.
fn tag(definition: &mut Value, custom: &CustomType, kind: &GroupVersionKind) {
    definition["x-kubernetes-group-version-kind"] =
        json!([{"group": &*kind.group, "version": &*kind.version, "kind": &*kind.kind}]);
    let paths = custom
        .selectable_paths()
        .map(|path| json!({"fieldPath": path}));
    let paths: Vec<Value> = paths.collect();
    if !paths.is_empty() {
        definition["x-kubernetes-selectable-fields"] = paths.into();
    }
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

/// Adds kind, apiVersion and metadata to embedded objects, except where version 2 omits them.
fn add_embedded(schema: &mut Value, dialect: Dialect) {
    nested(schema).for_each(|schema| add_embedded(schema, dialect));
    let is_open = dialect == Dialect::V2 && preserves_unknown(schema);
    if is_open || schema["x-kubernetes-embedded-resource"] != true {
        return;
    }
    schema["properties"]["apiVersion"] = json!({
        "type": "string",
        "description": format!(
            "apiVersion defines the versioned schema of this representation of an object. More info: \
             {CONVENTIONS}#resources"
        ),
    });
    schema["properties"]["kind"] = json!({
        "type": "string",
        "description": format!(
            "kind is a string value representing the type of this object. In CamelCase. More info: \
             {CONVENTIONS}#types-kinds"
        ),
    });
    schema["properties"]["metadata"] = metadata(OBJECT_META);
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    for field in ["kind", "apiVersion"] {
        if !required
            .iter()
            .any(|required_field| required_field == field)
        {
            required.push(field.into());
        }
    }
    schema["required"] = required.into();
}

/// Converts the schema of a definition to the published schema.
fn publish(schema: &mut Value, dialect: Dialect) {
    unfold(schema);
    if let Some(members) = schema.as_object_mut() {
        let is_empty = |name: &str, value: &Value| match (name, value) {
            (name, Value::Bool(false)) => FLAGS.contains(&name),
            ("properties", Value::Object(properties)) => properties.is_empty(),
            (name, Value::Array(items)) => LISTS.contains(&name) && items.is_empty(),
            _ => false,
        };
        members.retain(|name, value| !is_empty(name, value));
    }
    if dialect == Dialect::V2 {
        reduce(schema);
    }
    nested(schema).for_each(|schema| publish(schema, dialect));
}

/// Adds the alternatives of an int-or-string to its schema, unless they are declared.
fn unfold(schema: &mut Value) {
    if schema["x-kubernetes-int-or-string"] != true {
        return;
    }
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    if schema["anyOf"] == either || schema["allOf"][0]["anyOf"] == either {
        return;
    }
    if schema["anyOf"].is_null() {
        schema["anyOf"] = either;
    } else {
        let mut all = vec![json!({"anyOf": either})];
        all.extend(schema["allOf"].as_array().cloned().unwrap_or_default());
        schema["allOf"] = all.into();
    }
}

/// Drops what version 2 cannot express. The remaining schema accepts more.
fn reduce(schema: &mut Value) {
    let is_nullable = schema["nullable"] == true;
    let is_open = preserves_unknown(schema);
    let has_nullable_values = schema["additionalProperties"]["nullable"] == true;
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
    let properties = members.get("properties").and_then(Value::as_object);
    let nullable: Vec<String> = (properties.into_iter().flatten())
        .filter(|(_, property)| property["nullable"] == true)
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(Value::Array(required)) = members.get_mut("required") {
        required.retain(|name| {
            !has_nullable_values && !nullable.iter().any(|nullable| name == nullable)
        });
        if required.is_empty() {
            members.remove("required");
        }
    }
}
