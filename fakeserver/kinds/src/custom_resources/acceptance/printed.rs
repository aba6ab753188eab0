//! Parts of definitions as Go prints their internal forms: every field under its name in Go.

use std::fmt::Write as _;

use fakeserver_value::go_text::escape_html;
use serde_json::Value;

use super::internal_spec::{InternalSpec, VersionedPart};

/// The keywords of a schema with the names of the internal struct, in its order.
pub(super) const FIELDS: [(&str, &str); 43] = [
    ("id", "ID"),
    ("$schema", "Schema"),
    ("$ref", "Ref"),
    ("description", "Description"),
    ("type", "Type"),
    ("nullable", "Nullable"),
    ("format", "Format"),
    ("title", "Title"),
    ("default", "Default"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "ExclusiveMaximum"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "ExclusiveMinimum"),
    ("maxLength", "MaxLength"),
    ("minLength", "MinLength"),
    ("pattern", "Pattern"),
    ("maxItems", "MaxItems"),
    ("minItems", "MinItems"),
    ("uniqueItems", "UniqueItems"),
    ("multipleOf", "MultipleOf"),
    ("enum", "Enum"),
    ("maxProperties", "MaxProperties"),
    ("minProperties", "MinProperties"),
    ("required", "Required"),
    ("items", "Items"),
    ("allOf", "AllOf"),
    ("oneOf", "OneOf"),
    ("anyOf", "AnyOf"),
    ("not", "Not"),
    ("properties", "Properties"),
    ("additionalProperties", "AdditionalProperties"),
    ("patternProperties", "PatternProperties"),
    ("dependencies", "Dependencies"),
    ("additionalItems", "AdditionalItems"),
    ("definitions", "Definitions"),
    ("externalDocs", "ExternalDocs"),
    ("example", "Example"),
    (
        "x-kubernetes-preserve-unknown-fields",
        "XPreserveUnknownFields",
    ),
    ("x-kubernetes-embedded-resource", "XEmbeddedResource"),
    ("x-kubernetes-int-or-string", "XIntOrString"),
    ("x-kubernetes-list-map-keys", "XListMapKeys"),
    ("x-kubernetes-list-type", "XListType"),
    ("x-kubernetes-map-type", "XMapType"),
];
/// The keyword of rules, the last field of the struct.
const RULES: (&str, &str) = ("x-kubernetes-validations", "XValidations");

/// Returns whether a member says nothing.
pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Prints a schema.
pub(super) fn schema(schema: &Value) -> String {
    let fields = FIELDS.into_iter().chain([RULES]);
    print_struct(fields.map(|(keyword, name)| (name, member(keyword, &schema[keyword]))))
}

/// Returns the versions of a definition as they are printed; `null` if it has none.
pub(super) fn versions(spec: &InternalSpec<'_>) -> String {
    if !spec.has_versions() {
        return "null".to_owned();
    }
    let versions = (0..spec.versions.len()).map(|index| version(spec, index));
    print_list(versions)
}

/// Prints a rule.
pub(super) fn rule(rule: &Value) -> String {
    let text = |field: &str| text_or_empty(&rule[field]);
    print_struct([
        ("Rule", text("rule")),
        ("Message", text("message")),
        ("MessageExpression", text("messageExpression")),
        ("Reason", json(&rule["reason"])),
        ("FieldPath", text("fieldPath")),
        ("OptionalOldSelf", json(&rule["optionalOldSelf"])),
    ])
}

fn version(spec: &InternalSpec<'_>, index: usize) -> String {
    let own = |part: VersionedPart| spec.own(index, part);
    let version = &spec.versions[index];
    let flag = |field: &str| flag(&version[field]);
    let or_null = |value: &Value, print: &dyn Fn(&Value) -> String| {
        if value.is_null() {
            "null".to_owned()
        } else {
            print(value)
        }
    };
    let validation = or_null(own(VersionedPart::Schema), &|value| {
        let inner = or_null(&value["openAPIV3Schema"], &schema);
        print_struct([("OpenAPIV3Schema", inner)])
    });
    let subresources = or_null(own(VersionedPart::Subresources), &|value| {
        let scale = or_null(&value["scale"], &|scale| {
            print_struct([
                (
                    "SpecReplicasPath",
                    text_or_empty(&scale["specReplicasPath"]),
                ),
                (
                    "StatusReplicasPath",
                    text_or_empty(&scale["statusReplicasPath"]),
                ),
                ("LabelSelectorPath", json(&scale["labelSelectorPath"])),
            ])
        });
        let status = or_null(&value["status"], &|_| "{}".to_owned());
        print_struct([("Status", status), ("Scale", scale)])
    });
    let columns = or_null(own(VersionedPart::Columns), &|columns| {
        list(columns, column)
    });
    let selectable = or_null(own(VersionedPart::SelectableFields), &|fields| {
        list(fields, |field| {
            print_struct([("JSONPath", text_or_empty(&field["jsonPath"]))])
        })
    });
    print_struct([
        ("Name", text_or_empty(&version["name"])),
        ("Served", flag("served")),
        ("Storage", flag("storage")),
        ("Deprecated", flag("deprecated")),
        ("DeprecationWarning", json(&version["deprecationWarning"])),
        ("Schema", validation),
        ("Subresources", subresources),
        ("AdditionalPrinterColumns", columns),
        ("SelectableFields", selectable),
    ])
}

fn column(column: &Value) -> String {
    let text = |field: &str| text_or_empty(&column[field]);
    let priority = column["priority"].as_i64().unwrap_or_default();
    print_struct([
        ("Name", text("name")),
        ("Type", text("type")),
        ("Format", text("format")),
        ("Description", text("description")),
        ("Priority", priority.to_string()),
        ("JSONPath", text("jsonPath")),
    ])
}

fn member(keyword: &str, value: &Value) -> String {
    match keyword {
        "id" | "$schema" | "description" | "type" | "format" | "title" | "pattern" => {
            text_or_empty(value)
        }
        "nullable"
        | "exclusiveMaximum"
        | "exclusiveMinimum"
        | "uniqueItems"
        | "x-kubernetes-embedded-resource"
        | "x-kubernetes-int-or-string" => flag(value),
        _ if value.is_null() => "null".to_owned(),
        "maximum" | "minimum" | "multipleOf" => double(value),
        "not" => schema(value),
        "allOf" | "oneOf" | "anyOf" => list(value, schema),
        "properties" | "patternProperties" | "definitions" => map(value, schema),
        "items" => match value {
            Value::Array(_) => print_struct([
                ("Schema", "null".to_owned()),
                ("JSONSchemas", list(value, schema)),
            ]),
            one => print_struct([("Schema", schema(one)), ("JSONSchemas", "null".to_owned())]),
        },
        "additionalProperties" | "additionalItems" => {
            let (allows, inner) = match value {
                Value::Bool(allows) => (allows.to_string(), "null".to_owned()),
                one => ("true".to_owned(), schema(one)),
            };
            print_struct([("Allows", allows), ("Schema", inner)])
        }
        "dependencies" => map(value, |one| match one {
            Value::Array(_) => {
                print_struct([("Schema", "null".to_owned()), ("Property", json(one))])
            }
            one => print_struct([("Schema", schema(one)), ("Property", "null".to_owned())]),
        }),
        "externalDocs" => print_struct([
            ("Description", text_or_empty(&value["description"])),
            ("URL", text_or_empty(&value["url"])),
        ]),
        "x-kubernetes-validations" => list(value, rule),
        _ => json(value),
    }
}

fn json(value: &Value) -> String {
    escape_html(&value.to_string())
}

fn text_or_empty(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        value => json(value),
    }
}

fn flag(value: &Value) -> String {
    (*value == true).to_string()
}

/// Prints a double as JSON does in Go: without a fraction that is zero.
fn double(value: &Value) -> String {
    let number = value.as_f64().unwrap_or_default();
    if number.fract() == 0.0 && number.abs() < 1e21 {
        return format!("{number:.0}");
    }
    number.to_string()
}

fn list(value: &Value, print: impl Fn(&Value) -> String) -> String {
    print_list(value.as_array().into_iter().flatten().map(print))
}

fn print_list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    format!("[{}]", items.join(","))
}

fn map(value: &Value, print: impl Fn(&Value) -> String) -> String {
    let entries = value.as_object().into_iter().flatten();
    let entries: Vec<String> = entries
        .map(|(key, value)| format!("{}:{}", json(&key.as_str().into()), print(value)))
        .collect();
    format!("{{{}}}", entries.join(","))
}

fn print_struct(fields: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let mut text = String::from("{");
    for (place, (name, value)) in fields.into_iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        write!(text, "{comma}\"{name}\":{value}").expect("a string takes all");
    }
    text.push('}');
    text
}
