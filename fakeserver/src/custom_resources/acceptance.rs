//! What makes a definition acceptable, and what one may leave out.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    JsonPath, deprecation::warning_errors, printer_column::column_errors, rules::compilation_errors,
};
use crate::{
    status::FieldError,
    validation::names::{dns_label_problems, subdomain_problems},
};

/// What schemas of custom resources may not use.
const FORBIDDEN: [&str; 6] = [
    "$ref",
    "definitions",
    "dependencies",
    "patternProperties",
    "additionalItems",
    "uniqueItems",
];
/// How many fields of a version may be selectable.
const SELECTABLE_MAX: u64 = 8;

/// Fills in what `crd` leaves out.
pub(crate) fn set_definition_defaults(crd: &mut Value) {
    let spec = &mut crd["spec"];
    if spec["conversion"].is_null() {
        spec["conversion"] = json!({"strategy": "None"});
    }
    let names = &mut spec["names"];
    let kind = names["kind"].as_str().unwrap_or_default().to_owned();
    if kind.is_empty() {
        return;
    }
    let is_empty = |name: &Value| name.as_str().is_none_or(str::is_empty);
    if is_empty(&names["singular"]) {
        names["singular"] = json!(kind.to_lowercase());
    }
    if is_empty(&names["listKind"]) {
        names["listKind"] = json!(format!("{kind}List"));
    }
}

/// What is wrong with `crd`, which replaces `old` if there was one.
pub(crate) fn definition_errors(crd: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_name(crd, &mut errors);
    check_names(&crd["spec"], &mut errors);
    check_versions(&crd["spec"], &mut errors);
    if let Some(old) = old {
        check_immutable(old, crd, &mut errors);
    }
    errors
}

fn check_name(crd: &Value, errors: &mut Vec<FieldError>) {
    let spec = &crd["spec"];
    let name = text(&crd["metadata"]["name"]);
    let (plural, group) = (text(&spec["names"]["plural"]), text(&spec["group"]));
    if name != format!("{plural}.{group}") {
        errors.push(FieldError::invalid(
            "metadata.name",
            &json!(name),
            "must be spec.names.plural+\".\"+spec.group",
        ));
    }
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else {
        for problem in subdomain_problems(group) {
            errors.push(FieldError::invalid("spec.group", &json!(group), &problem));
        }
        if group.split('.').count() < 2 {
            errors.push(FieldError::invalid(
                "spec.group",
                &json!(group),
                "should be a domain with at least one dot",
            ));
        }
    }
    match text(&spec["scope"]) {
        "" => errors.push(FieldError::required("spec.scope", "")),
        "Cluster" | "Namespaced" => {}
        other => errors.push(FieldError::not_supported(
            "spec.scope",
            &json!(other),
            &["Cluster", "Namespaced"],
        )),
    }
}

fn check_names(spec: &Value, errors: &mut Vec<FieldError>) {
    let names = &spec["names"];
    for (field, is_kind) in [
        ("plural", false),
        ("singular", false),
        ("kind", true),
        ("listKind", true),
    ] {
        let path = format!("spec.names.{field}");
        let name = text(&names[field]);
        if name.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        // A kind may have capital letters, and is a label but for them.
        let checked = if is_kind {
            name.to_lowercase()
        } else {
            name.to_owned()
        };
        for problem in dns_label_problems(&checked) {
            errors.push(FieldError::invalid(path.as_str(), &json!(name), &problem));
        }
    }
    if !text(&names["kind"]).is_empty() && names["kind"] == names["listKind"] {
        errors.push(FieldError::invalid(
            "spec.names.listKind",
            &names["listKind"],
            "kind and listKind may not be the same",
        ));
    }
    let short = names["shortNames"].as_array().into_iter().flatten();
    for (index, name) in short.enumerate() {
        for problem in dns_label_problems(text(name)) {
            let path = format!("spec.names.shortNames[{index}]");
            errors.push(FieldError::invalid(path, name, &problem));
        }
    }
}

fn check_versions(spec: &Value, errors: &mut Vec<FieldError>) {
    let versions = spec["versions"].as_array().cloned().unwrap_or_default();
    let stored = versions
        .iter()
        .filter(|version| version["storage"] == true)
        .count();
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{index}]");
        let name = text(&version["name"]);
        if !seen.insert(name) {
            errors.push(FieldError::invalid(
                format!("{path}.name"),
                &json!(name),
                "must be unique",
            ));
        }
        for problem in dns_label_problems(name) {
            errors.push(FieldError::invalid(
                format!("{path}.name"),
                &json!(name),
                &problem,
            ));
        }
        check_version(version, &path, errors);
    }
    if stored != 1 {
        errors.push(FieldError::invalid(
            "spec.versions",
            &json!(versions),
            "must have exactly one version marked as storage version",
        ));
    }
}

fn check_version(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let schema = &version["schema"]["openAPIV3Schema"];
    let path_of_schema = format!("{path}.schema.openAPIV3Schema");
    if schema.is_null() {
        errors.push(FieldError::required(path_of_schema, "schemas are required"));
    } else {
        if schema["type"] != "object" {
            errors.push(FieldError::invalid(
                format!("{path_of_schema}.type"),
                &schema["type"],
                "must be object at the root",
            ));
        }
        check_schema(schema, &path_of_schema, errors);
    }
    let scale = &version["subresources"]["scale"];
    if scale.is_object() {
        check_scale(scale, &format!("{path}.subresources.scale"), errors);
    }
    errors.extend(column_errors(version, path));
    errors.extend(warning_errors(version, path));
    let selectable = version["selectableFields"].as_array().into_iter().flatten();
    for (index, field) in selectable.enumerate() {
        let path = format!("{path}.selectableFields[{index}].jsonPath");
        if JsonPath::parse(text(&field["jsonPath"])).is_none() {
            errors.push(FieldError::invalid(
                path,
                &field["jsonPath"],
                "is an invalid path",
            ));
        }
    }
    let count = version["selectableFields"].as_array().map_or(0, Vec::len) as u64;
    if count > SELECTABLE_MAX {
        errors.push(FieldError::too_many(
            format!("{path}.selectableFields"),
            count,
            SELECTABLE_MAX,
        ));
    }
}

fn check_scale(scale: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (field, part) in [
        ("specReplicasPath", ".spec."),
        ("statusReplicasPath", ".status."),
    ] {
        let given = text(&scale[field]);
        let path = format!("{path}.{field}");
        if given.is_empty() {
            errors.push(FieldError::required(path, ""));
        } else if JsonPath::parse(given).is_none() {
            errors.push(FieldError::invalid(
                path,
                &scale[field],
                "should be a json path with dots",
            ));
        } else if !given.starts_with(part) {
            let detail = format!("should be a json path under {}", part.trim_end_matches('.'));
            errors.push(FieldError::invalid(path, &scale[field], &detail));
        }
    }
}

/// Whether a schema is structural: every value has a type, and nothing is used that cannot be pruned by.
fn check_schema(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let is_typed = schema["type"].is_string()
        || schema["x-kubernetes-int-or-string"] == true
        || schema["x-kubernetes-preserve-unknown-fields"] == true;
    if !is_typed {
        let what = match path.rsplit_once('.') {
            Some((_, "items")) => "array items",
            Some((_, "additionalProperties")) => "object values",
            _ => "object fields",
        };
        errors.push(FieldError::required(
            format!("{path}.type"),
            &format!("must not be empty for specified {what}"),
        ));
    }
    for field in FORBIDDEN {
        let value = &schema[field];
        if !value.is_null() && *value != false {
            errors.push(FieldError::forbidden(
                format!("{path}.{field}"),
                "not supported",
            ));
        }
    }
    let additional = &schema["additionalProperties"];
    if schema["properties"].is_object() && (additional.is_object() || *additional == true) {
        errors.push(FieldError::forbidden(
            format!("{path}.additionalProperties"),
            "additionalProperties and properties are mutual exclusive",
        ));
    }
    if schema["type"] == "array" && schema["items"].is_null() {
        errors.push(FieldError::required(
            format!("{path}.items"),
            "must be specified",
        ));
    }
    if schema["x-kubernetes-list-type"] == "map"
        && schema["x-kubernetes-list-map-keys"]
            .as_array()
            .is_none_or(Vec::is_empty)
    {
        errors.push(FieldError::required(
            format!("{path}.x-kubernetes-list-map-keys"),
            "must not be empty if x-kubernetes-list-type is map",
        ));
    }
    for (field, why) in compilation_errors(schema, path) {
        let rule = &schema["x-kubernetes-validations"];
        errors.push(FieldError::invalid(
            field,
            rule,
            &format!("compilation failed: {why}"),
        ));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        check_schema(property, &format!("{path}.properties[{name}]"), errors);
    }
    if additional.is_object() {
        check_schema(additional, &format!("{path}.additionalProperties"), errors);
    }
    if schema["items"].is_object() {
        check_schema(&schema["items"], &format!("{path}.items"), errors);
    }
}

/// What a definition is about cannot change: its objects would be lost.
fn check_immutable(old: &Value, new: &Value, errors: &mut Vec<FieldError>) {
    let established = super::conditions::is_true(old, "Established");
    let mut fields = vec!["/spec/group", "/spec/names/plural"];
    if established {
        fields.extend(["/spec/scope", "/spec/names/kind"]);
    }
    for pointer in fields {
        if old.pointer(pointer) != new.pointer(pointer) {
            let field = pointer[1..].replace('/', ".");
            let value = new.pointer(pointer).unwrap_or(&Value::Null);
            errors.push(FieldError::invalid(field, value, "field is immutable"));
        }
    }
    let versions = new["spec"]["versions"].as_array().into_iter().flatten();
    let names: BTreeSet<&str> = versions.map(|version| text(&version["name"])).collect();
    let stored = new["status"]["storedVersions"]
        .as_array()
        .into_iter()
        .flatten();
    for (index, version) in stored.enumerate() {
        if !names.contains(text(version)) {
            errors.push(FieldError::invalid(
                format!("status.storedVersions[{index}]"),
                version,
                &format!("missing from spec.versions; {} was previously a storage version, and must remain in \
                          spec.versions until a storage migration ensures no data remains persisted in {0} and \
                          removes {0} from status.storedVersions", text(version)),
            ));
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
