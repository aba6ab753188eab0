//! Validation and defaults of definitions.
//!
//! A real server works on an internal form of definitions, in which a part that all versions share belongs to the whole
//! definition: [`InternalSpec`]. Paths and shown values are those of this form. Upstream has these rules in
//! `apiextensions-apiserver/pkg/apis/apiextensions/validation`.

mod approval;
mod completeness;
mod defaults;
mod expressions;
mod internal_spec;
mod lists;
mod names;
mod printed;
mod schema;
mod selectable;
mod structural;
mod versions;

use fakeserver_value::{
    names::{service_name_problems, subdomain_problems},
    read::text,
    status::FieldError,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use self::{
    approval::approval_errors,
    internal_spec::InternalSpec,
    names::names_errors,
    versions::{CheckedSpec, stored_version_errors},
};
use super::conversion::{conversion_errors, set_conversion_defaults};

/// Fills in what `crd` leaves out.
pub fn set_definition_defaults(crd: &mut Value) {
    let spec = &mut crd["spec"];
    if spec["conversion"].is_null() {
        spec["conversion"] = json!({"strategy": "None"});
    }
    set_conversion_defaults(&mut spec["conversion"]);
    let names = &mut spec["names"];
    let kind = text(&names["kind"]).to_owned();
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
pub fn definition_errors(
    kubernetes: KubernetesVersion,
    crd: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old.is_none() {
        check_name(crd, &mut errors);
    }
    check_spec(kubernetes, crd, old, &mut errors);
    if let Some(old) = old {
        check_immutable(old, crd, &mut errors);
    }
    errors.extend(status_errors(crd));
    errors.extend(stored_version_errors(crd));
    errors.extend(approval_errors(crd, old));
    let preserves = |crd: &Value| crd["spec"]["preserveUnknownFields"] == true;
    if preserves(crd) && !old.is_some_and(preserves) {
        errors.push(FieldError::invalid(
            "spec.preserveUnknownFields",
            &json!(true),
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ));
    }
    errors
}

/// Returns the errors of the status of `crd`.
pub fn status_errors(crd: &Value) -> Vec<FieldError> {
    names_errors(&crd["status"]["acceptedNames"], "status.acceptedNames")
}

/// Returns the warnings about formats in `crd` that no text is checked for, if `old` did not have them.
pub fn definition_warnings(crd: &Value, old: Option<&Value>) -> Vec<String> {
    let old_formats = old.map(unrecognized_formats).unwrap_or_default();
    let formats = unrecognized_formats(crd).into_iter();
    formats
        .filter(|format| !old_formats.contains(format))
        .map(|format| format!("unrecognized format {format:?}"))
        .collect()
}

fn unrecognized_formats(crd: &Value) -> Vec<String> {
    let spec = InternalSpec::new(&crd["spec"]);
    let mut formats = Vec::new();
    for schema in spec.schemas() {
        schema::walk(schema, &mut |schema| {
            let text = |field: &str| text(&schema[field]);
            let format = text("format");
            if !format.is_empty() && !super::validation::is_recognized(text("type"), format) {
                formats.push(format.to_owned());
            }
        });
    }
    formats
}

fn check_name(crd: &Value, errors: &mut Vec<FieldError>) {
    let spec = &crd["spec"];
    let (plural, group) = (text(&spec["names"]["plural"]), text(&spec["group"]));
    for field in ["generateName", "name"] {
        let name = text(&crd["metadata"][field]);
        if !name.is_empty() && name != format!("{plural}.{group}") {
            errors.push(invalid(
                &format!("metadata.{field}"),
                &json!(name),
                "must be spec.names.plural+\".\"+spec.group",
            ));
        }
    }
}

fn check_spec(
    kubernetes: KubernetesVersion,
    crd: &Value,
    old: Option<&Value>,
    errors: &mut Vec<FieldError>,
) {
    let spec = &crd["spec"];
    check_group(spec, errors);
    match text(&spec["scope"]) {
        "" => errors.push(FieldError::required("spec.scope", "")),
        "Cluster" | "Namespaced" => {}
        other => errors.push(FieldError::not_supported(
            "spec.scope",
            &json!(other),
            &["Cluster", "Namespaced"],
        )),
    }
    let internal = InternalSpec::new(spec);
    let old = old.map(|old| InternalSpec::new(&old["spec"]));
    let checked = CheckedSpec::new(kubernetes, &internal, old.as_ref());
    checked.check_versions(errors);
    for field in ["plural", "singular", "kind", "listKind"] {
        if text(&spec["names"][field]).is_empty() {
            errors.push(FieldError::required(format!("spec.names.{field}"), ""));
        }
    }
    errors.extend(names_errors(&spec["names"], "spec.names"));
    checked.check_common(errors);
    let conversion = &spec["conversion"];
    if spec["preserveUnknownFields"] == true
        && !conversion.is_null()
        && conversion["strategy"] != "None"
    {
        errors.push(invalid(
            "spec.conversion.strategy",
            &json!(text(&conversion["strategy"])),
            "must be None if spec.preserveUnknownFields is true",
        ));
    }
    errors.extend(conversion_errors(conversion));
}

fn check_group(spec: &Value, errors: &mut Vec<FieldError>) {
    let group = text(&spec["group"]);
    let problems = subdomain_problems(group);
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !problems.is_empty() {
        errors.push(invalid("spec.group", &json!(group), &problems.join(",")));
    } else if !group.contains('.') {
        errors.push(invalid(
            "spec.group",
            &json!(group),
            "should be a domain with at least one dot",
        ));
    }
}

/// Checks that a definition keeps its resource, whose objects would be lost otherwise.
fn check_immutable(old: &Value, new: &Value, errors: &mut Vec<FieldError>) {
    let mut pointers = Vec::new();
    if super::conditions::is_true(old, "Established") {
        pointers.extend(["/spec/scope", "/spec/names/kind"]);
    }
    pointers.extend(["/spec/group", "/spec/names/plural"]);
    for pointer in pointers {
        let value = text(new.pointer(pointer).unwrap_or(&Value::Null));
        if text(old.pointer(pointer).unwrap_or(&Value::Null)) != value {
            let field = pointer[1..].replace('/', ".");
            errors.push(invalid(&field, &json!(value), "field is immutable"));
        }
    }
}

/// Returns the problems of a DNS label that begins with a letter, as one text.
fn label_problem(name: &str) -> Option<String> {
    let problems = service_name_problems(name);
    (!problems.is_empty()).then(|| problems.join(","))
}

/// Creates an error that shows a value as Go prints it.
fn invalid(field: &str, value: &Value, detail: &str) -> FieldError {
    FieldError::invalid(field, value, detail)
}
