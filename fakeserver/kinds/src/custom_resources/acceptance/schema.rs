//! Validation of a version's schema: its keywords, its structure, its defaults and its rules.

use fakeserver_value::{read::text, status::FieldError};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Map, Value};

use super::{
    defaults::default_errors,
    expressions::{CostTotal, RuleScope, check_rules, expression_errors},
    invalid,
    lists::check_list,
    printed,
    structural::{structural_errors, unsupported},
};

/// The types of values.
pub(super) const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// The keywords at the root of a schema beside a status, in the order of the internal struct.
const ALLOWED_AT_ROOT: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// The circumstances of a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaCheck {
    /// The version of Kubernetes whose rules count.
    pub(super) kubernetes: KubernetesVersion,
    /// The version has a status as a subresource.
    pub(super) has_status: bool,
    /// The schema is as it was, so the costs of single rules do not count.
    pub(super) suppresses_cost: bool,
}

/// The place of a schema within the whole one, as far as checks depend on it.
#[derive(Clone, Debug, Default)]
struct SchemaContext {
    /// The reason for which defaults are forbidden.
    forbids_defaults: Option<String>,
    is_inside_metadata: bool,
    /// The path of the outermost part that is not correlated with its old value.
    uncorrelated: Option<String>,
    is_root: bool,
}

// === impl SchemaContext ===

impl SchemaContext {
    /// Returns the surroundings of a property of `schema`, which is at `path`.
    fn of_property(&self, schema: &Value, name: &str, path: &str) -> Self {
        let mut inner = Self {
            is_root: false,
            ..self.clone()
        };
        let map_type = &schema["x-kubernetes-map-type"];
        if !map_type.is_null() && map_type != "granular" && map_type != "atomic" {
            inner.uncorrelated.get_or_insert_with(|| path.to_owned());
        }
        let is_object = self.is_root || schema["x-kubernetes-embedded-resource"] == true;
        if is_object && matches!(name, "metadata" | "kind" | "apiVersion") {
            inner.is_inside_metadata = true;
            if self.is_root {
                inner.forbids_defaults = Some(format!("in top-level {name}"));
            }
        }
        inner
    }
}

/// The errors of keywords and those of rules, which are reported later.
#[derive(Debug, Default)]
struct SchemaErrors {
    schema: Vec<FieldError>,
    rules: Vec<FieldError>,
}

/// Calls `visit` with a schema and all schemas within it.
pub(super) fn walk<'s>(schema: &'s Value, visit: &mut dyn FnMut(&'s Value)) {
    if !schema.is_object() {
        return;
    }
    visit(schema);
    match &schema["items"] {
        Value::Array(all) => all.iter().for_each(|one| walk(one, visit)),
        one => walk(one, visit),
    }
    for list in ["allOf", "anyOf", "oneOf"] {
        for one in schema[list].as_array().into_iter().flatten() {
            walk(one, visit);
        }
    }
    for one in ["not", "additionalProperties", "additionalItems"] {
        walk(&schema[one], visit);
    }
    for map in [
        "properties",
        "patternProperties",
        "definitions",
        "dependencies",
    ] {
        for one in schema[map].as_object().into_iter().flatten() {
            walk(one.1, visit);
        }
    }
}

/// Checks the schema of a version, or that of the whole definition.
pub(super) fn check_validation(
    validation: &Value,
    path: &str,
    check: SchemaCheck,
    errors: &mut Vec<FieldError>,
) {
    let schema = &validation["openAPIV3Schema"];
    if schema.is_null() {
        return;
    }
    let path = format!("{path}.openAPIV3Schema");
    let mut found = Vec::new();
    if check.has_status {
        check_root(schema, &path, &mut found);
    }
    if schema["nullable"] == true {
        let path = format!("{path}.nullable");
        found.push(FieldError::forbidden(
            path,
            "nullable cannot be true at the root",
        ));
    }
    let unsupported = unsupported(schema);
    let mut total = None;
    if unsupported.is_none() {
        let mut structural = structural_errors(schema, &path);
        if structural.is_empty() {
            structural = default_errors(check.kubernetes, schema, &path);
        }
        if structural.is_empty() {
            total = Some(CostTotal::default());
        }
        found.extend(structural);
    }
    let around = SchemaContext {
        is_root: true,
        ..SchemaContext::default()
    };
    let scope = total
        .is_some()
        .then(|| RuleScope::root(check.kubernetes, check.suppresses_cost));
    let mut total = total.unwrap_or_default();
    let checked = check_schema(schema, &path, &around, scope, &mut total);
    found.extend(checked.schema);
    found.extend(checked.rules);
    if found.is_empty() {
        let why = unsupported.map(|why| FieldError::invalid(path.as_str(), &"".into(), &why));
        found.extend(why);
    }
    total.check(&path, &mut found);
    errors.extend(found);
}

/// Checks that a root beside a status has no keywords but those that concern a whole object.
fn check_root(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (keyword, name) in printed::FIELDS {
        if printed::is_zero(&schema[keyword]) {
            continue;
        }
        if name == "Type" {
            if schema["type"] != "object" {
                errors.push(invalid(
                    &format!("{path}.type"),
                    &schema["type"],
                    "only \"object\" is allowed as the type at the root of the schema if the status subresource is \
                     enabled",
                ));
                return;
            }
        } else if !ALLOWED_AT_ROOT.contains(&name) {
            let allowed = ALLOWED_AT_ROOT.join(" ");
            errors.push(FieldError::invalid_printed(
                path,
                &printed::schema(schema),
                &format!(
                    "only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
                ),
            ));
            return;
        }
    }
}

fn check_schema(
    schema: &Value,
    path: &str,
    around: &SchemaContext,
    scope: Option<RuleScope<'_>>,
    total: &mut CostTotal,
) -> SchemaErrors {
    let mut found = SchemaErrors::default();
    let Some(members) = schema.as_object() else {
        return found;
    };
    check_keywords(schema, path, around, &mut found.schema);
    if schema["uniqueItems"] == true {
        found.schema.push(FieldError::forbidden(
            format!("{path}.uniqueItems"),
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ));
    }
    let scope = scope.map(|scope| scope.within(schema));
    check_children(
        schema,
        members,
        path,
        around,
        scope.as_ref(),
        total,
        &mut found,
    );
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        found.schema.push(FieldError::invalid(
            format!("{path}.x-kubernetes-preserve-unknown-fields"),
            &false.into(),
            "must be true or undefined",
        ));
    }
    check_map_type(schema, path, &mut found.schema);
    check_list(schema, path, &mut found.schema);
    found.schema.extend(expression_errors(schema, path));
    if found.schema.is_empty()
        && let Some(scope) = &scope
    {
        let uncorrelated = around.uncorrelated.as_deref();
        found
            .rules
            .extend(check_rules(schema, path, scope, uncorrelated, total));
    }
    found
}

/// Checks the subschemas of a schema.
fn check_children(
    schema: &Value,
    members: &Map<String, Value>,
    path: &str,
    around: &SchemaContext,
    scope: Option<&RuleScope<'_>>,
    total: &mut CostTotal,
    found: &mut SchemaErrors,
) {
    let mut add = |child: &Value, path: String, around: &SchemaContext, is_part: bool| {
        let scope = scope.filter(|_| is_part).map(RuleScope::child);
        let inner = check_schema(child, &path, around, scope, total);
        found.schema.extend(inner.schema);
        found.rules.extend(inner.rules);
    };
    let inner = SchemaContext {
        is_root: false,
        ..around.clone()
    };
    let additional = &schema["additionalProperties"];
    if additional.is_object() {
        let mut inner = inner.clone();
        if inner.is_inside_metadata {
            let why = "inside additionalProperties applying to object metadata";
            inner.forbids_defaults = Some(why.to_owned());
        }
        add(
            additional,
            format!("{path}.additionalProperties"),
            &inner,
            true,
        );
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let inner = around.of_property(schema, name, path);
        add(property, format!("{path}.properties[{name}]"), &inner, true);
    }
    add(&schema["not"], format!("{path}.not"), &inner, false);
    for list in ["allOf", "oneOf", "anyOf"] {
        for (index, one) in schema[list].as_array().into_iter().flatten().enumerate() {
            add(one, format!("{path}.{list}[{index}]"), &inner, false);
        }
    }
    for map in ["definitions", "dependencies"] {
        for (name, one) in members
            .get(map)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            add(one, format!("{path}.{map}[{name}]"), &inner, false);
        }
    }
    let mut items = inner;
    if schema["x-kubernetes-list-type"] != "map" {
        items.uncorrelated.get_or_insert_with(|| path.to_owned());
    }
    match &schema["items"] {
        Value::Array(all) => {
            for (index, one) in all.iter().enumerate() {
                add(one, format!("{path}.items[{index}]"), &items, true);
            }
        }
        one => add(one, format!("{path}.items"), &items, true),
    }
}

/// Checks the keywords that schemas of custom resources may not have, and those that exclude each other.
fn check_keywords(
    schema: &Value,
    path: &str,
    around: &SchemaContext,
    errors: &mut Vec<FieldError>,
) {
    let ty = text(&schema["type"]);
    if !ty.is_empty() && !TYPES.contains(&ty) {
        let path = format!("{path}.type");
        errors.push(FieldError::not_supported(path, &schema["type"], &TYPES));
    }
    let has_default = schema
        .get("default")
        .is_some_and(|default| !default.is_null());
    if has_default && let Some(why) = &around.forbids_defaults {
        let detail = format!("must not be set {why}");
        errors.push(FieldError::forbidden(format!("{path}.default"), &detail));
    }
    for keyword in [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ] {
        let value = &schema[keyword];
        let is_set = match keyword {
            "additionalItems" | "dependencies" | "$ref" => !value.is_null(),
            _ => !printed::is_zero(value),
        };
        if is_set {
            let path = format!("{path}.{keyword}");
            errors.push(FieldError::forbidden(
                path,
                &format!("{keyword} is not supported"),
            ));
        }
    }
    if ty == "null" {
        errors.push(FieldError::forbidden(
            format!("{path}.type"),
            "type cannot be set to null, use nullable as an alternative",
        ));
    }
    if schema["items"]
        .as_array()
        .is_some_and(|items| !items.is_empty())
    {
        errors.push(FieldError::forbidden(
            format!("{path}.items"),
            "items must be a schema object and not an array",
        ));
    }
    if around.is_inside_metadata && schema["x-kubernetes-embedded-resource"] == true {
        errors.push(FieldError::forbidden(
            format!("{path}.x-kubernetes-embedded-resource"),
            "must not be used inside of resource meta",
        ));
    }
    let additional = &schema["additionalProperties"];
    let has_properties = !printed::is_zero(&schema["properties"]);
    if has_properties && (additional.is_object() || *additional == false) {
        errors.push(FieldError::forbidden(
            format!("{path}.additionalProperties"),
            "additionalProperties and properties are mutual exclusive",
        ));
    }
}

fn check_map_type(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(map_type) = schema["x-kubernetes-map-type"].as_str() else {
        return;
    };
    let ty = text(&schema["type"]);
    let detail = "must be object if x-kubernetes-map-type is specified";
    if ty.is_empty() {
        errors.push(FieldError::required(format!("{path}.type"), detail));
    } else if ty != "object" {
        errors.push(invalid(&format!("{path}.type"), &schema["type"], detail));
    }
    if !matches!(map_type, "atomic" | "granular") {
        errors.push(FieldError::not_supported(
            format!("{path}.x-kubernetes-map-type"),
            &schema["x-kubernetes-map-type"],
            &["atomic", "granular"],
        ));
    }
}
