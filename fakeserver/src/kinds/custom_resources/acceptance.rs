//! Validation and defaults of definitions.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    JsonPath,
    conversion::{conversion_errors, set_conversion_defaults},
    deprecation::warning_errors,
    printer_column::column_errors,
    structure::{check_metadata, check_schema},
};
use crate::value::{
    names::{dns_label_problems, subdomain_problems},
    status::FieldError,
};

/// The parts in which versions may differ.
const PARTS: [&str; 4] = [
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
];
/// The maximum number of a version's selectable fields.
const SELECTABLE_MAX: u64 = 8;

/// Fills in what `crd` leaves out.
pub(crate) fn set_definition_defaults(crd: &mut Value) {
    let spec = &mut crd["spec"];
    if spec["conversion"].is_null() {
        spec["conversion"] = json!({"strategy": "None"});
    }
    set_conversion_defaults(&mut spec["conversion"]);
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

/// Returns the errors of `crd`, which replaces `old` if there was one.
pub(crate) fn definition_errors(crd: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_name(crd, &mut errors);
    check_names(&crd["spec"], &mut errors);
    check_versions(&crd["spec"], &mut errors);
    errors.extend(conversion_errors(&crd["spec"]["conversion"]));
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
        errors.extend(warning_errors(version, &path));
        for part in PARTS {
            check_part(part, &versions, index, errors);
        }
    }
    if stored != 1 {
        errors.push(FieldError::invalid(
            "spec.versions",
            &json!(versions),
            "must have exactly one version marked as storage version",
        ));
    }
}

/// Checks a part of a version. A part that is the same in all versions belongs to the whole definition, and its errors
/// are reported once, there.
fn check_part(part: &str, versions: &[Value], index: usize, errors: &mut Vec<FieldError>) {
    let value = &versions[index][part];
    if part == "schema" && value["openAPIV3Schema"].is_null() {
        let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
        errors.push(FieldError::required(path, "schemas are required"));
        return;
    }
    let is_common = versions.iter().all(|version| version[part] == *value);
    if is_common && index > 0 {
        return;
    }
    let path = match part {
        "schema" if is_common => "spec.validation".to_owned(),
        part if is_common => format!("spec.{part}"),
        part => format!("spec.versions[{index}].{part}"),
    };
    match part {
        "schema" => check_whole_schema(&value["openAPIV3Schema"], &path, errors),
        "subresources" if value["scale"].is_object() => {
            check_scale(&value["scale"], &format!("{path}.scale"), errors);
        }
        "additionalPrinterColumns" => errors.extend(column_errors(value, &path)),
        "selectableFields" => check_selectable(value, &path, errors),
        _ => {}
    }
}

fn check_whole_schema(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let path = format!("{path}.openAPIV3Schema");
    if schema["type"] != "object" {
        errors.push(FieldError::invalid(
            format!("{path}.type"),
            &schema["type"],
            "must be object at the root",
        ));
    }
    check_metadata(&schema["properties"]["metadata"], &path, errors);
    check_schema(schema, &path, errors);
}

fn check_selectable(fields: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let fields = fields.as_array().map_or(&[][..], Vec::as_slice);
    for (index, field) in fields.iter().enumerate() {
        if JsonPath::parse(text(&field["jsonPath"])).is_none() {
            errors.push(FieldError::invalid(
                format!("{path}[{index}].jsonPath"),
                &field["jsonPath"],
                "is an invalid path",
            ));
        }
    }
    let count = fields.len() as u64;
    if count > SELECTABLE_MAX {
        errors.push(FieldError::too_many(path, count, SELECTABLE_MAX));
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

/// Checks that a definition keeps its resource, whose objects would be lost otherwise.
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
