//! Structural schemas: every value has a type, and alternatives only restrict fields that are declared beside them.

use fakeserver_value::{pattern::compile, read::text, status::FieldError};
use serde_json::{Value, json};

use super::{completeness::completeness_errors, invalid, printed::is_zero};

/// The position of a schema, which decides the error of a missing type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns the errors of a schema that is not structural, in the order of their texts.
pub(super) fn structural_errors(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check(schema, Level::Root, path, &mut errors);
    completeness_errors(schema, path, &mut errors);
    errors.sort_by_key(ToString::to_string);
    errors
}

/// Returns the first keyword that keeps a schema from being read as a structural one.
pub(super) fn unsupported(schema: &Value) -> Option<String> {
    if !schema.is_object() {
        return None;
    }
    let keywords = [
        "id",
        "$schema",
        "$ref",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
    ];
    let is_set = |keyword: &&str| match *keyword {
        "additionalItems" => !schema["additionalItems"].is_null(),
        keyword => !is_zero(&schema[keyword]),
    };
    if let Some(keyword) = keywords.into_iter().find(is_set) {
        let keyword = keyword.strip_prefix("$sch").map_or(keyword, |_| "schema");
        return Some(format!("OpenAPIV3Schema '{keyword}' is not supported"));
    }
    let lists = ["allOf", "anyOf", "oneOf"].into_iter();
    let alternatives = lists.flat_map(|list| schema[list].as_array().into_iter().flatten());
    let found = std::iter::once(&schema["not"])
        .chain(alternatives)
        .find_map(unsupported);
    if found.is_some() {
        return found;
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        let why =
            "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
        return Some(why.to_owned());
    }
    if schema["items"]
        .as_array()
        .is_some_and(|items| !items.is_empty())
    {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    unsupported(&schema["items"])
        .or_else(|| properties.map(|(_, one)| one).find_map(unsupported))
        .or_else(|| unsupported(&schema["additionalProperties"]))
}

fn check(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    if schema["type"] == "array" && schema["items"].is_null() {
        errors.push(FieldError::required(
            format!("{path}.items"),
            "must be specified",
        ));
    }
    if schema["items"].is_object() {
        check(
            &schema["items"],
            Level::Item,
            &format!("{path}.items"),
            errors,
        );
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.properties[{name}]");
        check(property, Level::Field, &path, errors);
    }
    let additional = &schema["additionalProperties"];
    let additional_path = format!("{path}.additionalProperties");
    if !additional.is_null() && level == Level::Root {
        errors.push(FieldError::forbidden(
            additional_path.as_str(),
            "must not be used at the root",
        ));
    }
    if additional.is_object() {
        check(additional, Level::Field, &additional_path, errors);
    }
    check_extensions(schema, path, errors);
    check_values(schema, path, errors);
    check_type(schema, level, path, errors);
    if level == Level::Root || is_embedded(schema) {
        for field in ["kind", "apiVersion"] {
            let property = &schema["properties"][field];
            if property.is_object() && property["type"] != "string" {
                let path = format!("{path}.properties[{field}].type");
                errors.push(invalid(
                    &path,
                    &text(&property["type"]).into(),
                    "must be string",
                ));
            }
        }
    }
    check_metadata(schema, level, path, errors);
    if is_embedded(schema) && !preserves(schema) && is_zero(&schema["properties"]) {
        errors.push(FieldError::required(
            format!("{path}.properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without \
             x-kubernetes-preserve-unknown-fields",
        ));
    }
}

fn check_type(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let ty = text(&schema["type"]);
    let path = format!("{path}.type");
    let embedded = "must be object if x-kubernetes-embedded-resource is true";
    if is_embedded(schema) && ty != "object" {
        if ty.is_empty() {
            errors.push(FieldError::required(path.as_str(), embedded));
        } else {
            errors.push(invalid(&path, &schema["type"], embedded));
        }
    } else if ty.is_empty() && schema["x-kubernetes-int-or-string"] != true && !preserves(schema) {
        let place = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        errors.push(FieldError::required(
            path.as_str(),
            &format!("must not be empty {place}"),
        ));
    }
    if is_embedded(schema) && !schema["additionalProperties"].is_null() {
        let path = path.replace(".type", ".additionalProperties");
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(path, detail));
    }
    if level == Level::Root && !ty.is_empty() && ty != "object" {
        errors.push(invalid(
            &path,
            &schema["type"],
            "must be object at the root",
        ));
    }
}

/// Checks that a schema restricts the name only in the metadata of whole objects: the rest is the server's.
fn check_metadata(schema: &Value, level: Level, path: &str, errors: &mut Vec<FieldError>) {
    let Some(members) = schema["properties"]["metadata"].as_object() else {
        return;
    };
    let metadata = &schema["properties"]["metadata"];
    let path = format!("{path}.properties[metadata]");
    if (level == Level::Root || is_embedded(schema)) && metadata["type"] != "object" {
        let path = format!("{path}.type");
        errors.push(invalid(
            &path,
            &text(&metadata["type"]).into(),
            "must be object",
        ));
    }
    if level != Level::Root {
        return;
    }
    let mut properties = metadata["properties"].as_object().into_iter().flatten();
    let names_only = properties.all(|(name, _)| matches!(name.as_str(), "name" | "generateName"));
    let says_nothing = |(name, value): (&String, &Value)| match name.as_str() {
        "type" | "default" => true,
        "properties" => names_only,
        _ => is_zero(value),
    };
    if !members.iter().all(says_nothing) {
        errors.push(FieldError::forbidden(
            path,
            "must not specify anything other than name and generateName, but metadata is implicitly specified",
        ));
    }
}

fn check_extensions(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if schema["x-kubernetes-int-or-string"] != true {
        return;
    }
    for keyword in [
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if schema[keyword] == true {
            errors.push(FieldError::invalid(
                format!("{path}.{keyword}"),
                &true.into(),
                "must be false if x-kubernetes-int-or-string is true",
            ));
        }
    }
}

/// Checks the restrictions of a schema, and those of its alternatives.
fn check_values(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let is_int_or_string =
        |branches: &Value| *branches == json!([{"type": "integer"}, {"type": "string"}]);
    if !is_int_or_string(&schema["anyOf"]) {
        check_branches(schema, "anyOf", path, false, errors);
    }
    let skips_first = is_int_or_string(&schema["allOf"][0]["anyOf"]);
    check_branches(schema, "allOf", path, skips_first, errors);
    check_branches(schema, "oneOf", path, false, errors);
    check_nested(&schema["not"], false, &format!("{path}.not"), errors);
    if let Err(why) = compile(text(&schema["pattern"])) {
        let detail = format!("must be a valid regular expression, but isn't: {why}");
        errors.push(invalid(
            &format!("{path}.pattern"),
            &schema["pattern"],
            &detail,
        ));
    }
}

fn check_branches(
    schema: &Value,
    list: &str,
    path: &str,
    skips_first: bool,
    errors: &mut Vec<FieldError>,
) {
    for (index, branch) in schema[list].as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}.{list}[{index}]");
        check_nested(branch, skips_first && index == 0, &path, errors);
    }
}

/// Checks that an alternative declares nothing.
fn check_nested(branch: &Value, skips_any_of: bool, path: &str, errors: &mut Vec<FieldError>) {
    if !branch.is_object() {
        return;
    }
    if skips_any_of {
        check_branches(branch, "allOf", path, false, errors);
        check_branches(branch, "oneOf", path, false, errors);
    } else {
        for list in ["anyOf", "allOf", "oneOf"] {
            check_branches(branch, list, path, false, errors);
        }
    }
    check_nested(&branch["not"], false, &format!("{path}.not"), errors);
    check_nested(&branch["items"], false, &format!("{path}.items"), errors);
    for (name, property) in branch["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.properties[{name}]");
        check_nested(property, false, &path, errors);
    }
    for (keyword, why) in [
        ("type", "must be empty"),
        ("additionalProperties", "must be undefined"),
        ("default", "must be undefined"),
        ("title", "must be empty"),
        ("description", "must be empty"),
        ("nullable", "must be false"),
        ("x-kubernetes-preserve-unknown-fields", "must be false"),
        ("x-kubernetes-embedded-resource", "must be false"),
        ("x-kubernetes-int-or-string", "must be false"),
        ("x-kubernetes-list-map-keys", "must be empty"),
        ("x-kubernetes-list-type", "must be undefined"),
        ("x-kubernetes-map-type", "must be undefined"),
        ("x-kubernetes-validations", "must be empty"),
    ] {
        let is_set = match keyword {
            "default" => !branch[keyword].is_null(),
            _ => !is_zero(&branch[keyword]),
        };
        if is_set {
            let detail = format!("{why} to be structural");
            errors.push(FieldError::forbidden(format!("{path}.{keyword}"), &detail));
        }
    }
    if !branch["properties"]["metadata"].is_null() {
        errors.push(FieldError::forbidden(
            format!("{path}.properties[metadata]"),
            "must not be specified in a nested context",
        ));
    }
}

fn is_embedded(schema: &Value) -> bool {
    schema["x-kubernetes-embedded-resource"] == true
}

fn preserves(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}
