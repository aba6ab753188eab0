//! Validation of the metadata of any object.

use std::{borrow::Cow, collections::BTreeSet};

use fakeserver_value::{
    names::{label_value_problems, path_segment_problems, qualified_name_problems},
    status::FieldError,
};
use serde_json::{Value, json};

use crate::{Habits, MetadataRechecks};

/// The maximum size of all annotations of an object, in bytes.
const ANNOTATIONS_MAX_BYTES: usize = 256 << 10;

/// Finalizers that need not be qualified.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// The part of the rules of a kind that is about metadata.
pub(super) struct MetadataRules<'a> {
    pub(super) habits: &'a Habits,
    /// Lists the problems of a name.
    pub(super) name_problems: fn(&str) -> Vec<String>,
}

/// Returns the errors of a new object's metadata.
pub(super) fn creation_errors(rules: &MetadataRules<'_>, metadata: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if rules.habits.checks_new_metadata {
        check_whole(rules, metadata, &mut errors);
    }
    errors
}

/// Returns the errors of a new object's metadata that are the same for all kinds. A real server looks for them when the rules
/// of the kind have found nothing.
pub fn generic_metadata_errors(metadata: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_generic(metadata, &mut errors);
    errors
}

/// Returns the errors of the metadata of an object's next version.
///
/// A real server looks at it before it asks for the kind's own rules, and the rules of most kinds look at it again, once or
/// twice: the causes tell.
pub(super) fn update_errors(
    rules: &MetadataRules<'_>,
    rechecks: MetadataRechecks,
    old: &Value,
    new: &Value,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_generic(new, &mut errors);
    check_change(old, new, &mut errors);
    if rechecks.change {
        check_change(old, new, &mut errors);
        check_kube_finalizers(rules, new, &mut errors);
    }
    for _ in 0..rechecks.whole {
        check_whole(rules, new, &mut errors);
    }
    errors
}

/// Returns the errors of the fields that all metadata has, whatever it belongs to.
pub fn common_metadata_errors(metadata: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_common(metadata, &mut errors);
    errors
}

/// Checks metadata by the rules of a kind.
fn check_whole(rules: &MetadataRules<'_>, metadata: &Value, errors: &mut Vec<FieldError>) {
    if rules.habits.checks_prefix {
        check_prefix(rules.name_problems, metadata, errors);
    }
    check_name(rules.name_problems, metadata, errors);
    check_common(metadata, errors);
    check_kube_finalizers(rules, metadata, errors);
}

/// Checks metadata by the rules for all kinds.
fn check_generic(metadata: &Value, errors: &mut Vec<FieldError>) {
    check_prefix(path_segment_problems, metadata, errors);
    check_name(path_segment_problems, metadata, errors);
    check_common(metadata, errors);
}

/// Checks the fields that all objects have.
fn check_common(metadata: &Value, errors: &mut Vec<FieldError>) {
    check_generation(&metadata["generation"], errors);
    check_described(metadata, errors);
    check_finalizers(&metadata["finalizers"], errors);
}

fn check_generation(generation: &Value, errors: &mut Vec<FieldError>) {
    if generation.as_i64().is_some_and(|generation| generation < 0) {
        errors.push(FieldError::invalid(
            "metadata.generation",
            generation,
            "must be greater than or equal to 0",
        ));
    }
}

fn check_described(metadata: &Value, errors: &mut Vec<FieldError>) {
    check_labels(&metadata["labels"], errors);
    check_annotations(&metadata["annotations"], errors);
    check_owners(&metadata["ownerReferences"], errors);
}

/// Checks that immutable metadata does not change between two versions of an object.
fn check_change(old: &Value, new: &Value, errors: &mut Vec<FieldError>) {
    if !old["deletionTimestamp"].is_null() {
        check_no_new_finalizers(old, new, errors);
    }
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if old[field] != new[field] {
            errors.push(FieldError::invalid(
                format!("metadata.{field}"),
                &new[field],
                "field is immutable",
            ));
        }
    }
    check_described(new, errors);
}

fn check_no_new_finalizers(old: &Value, new: &Value, errors: &mut Vec<FieldError>) {
    let kept = old["finalizers"].as_array().cloned().unwrap_or_default();
    let finalizers = new["finalizers"].as_array().into_iter().flatten();
    let added = finalizers.filter(|finalizer| !kept.contains(finalizer));
    let mut added: Vec<&str> = added.filter_map(Value::as_str).collect();
    added.sort_unstable();
    if added.is_empty() {
        return;
    }
    let added: Vec<String> = added
        .iter()
        .map(|finalizer| format!("{finalizer:?}"))
        .collect();
    errors.push(FieldError::forbidden(
        "metadata.finalizers",
        &format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            added.join(", ")
        ),
    ));
}

/// Checks the beginning of a generated name.
fn check_prefix(
    problems: impl Fn(&str) -> Vec<String>,
    metadata: &Value,
    errors: &mut Vec<FieldError>,
) {
    let prefix = metadata["generateName"].as_str().unwrap_or_default();
    if prefix.is_empty() {
        return;
    }
    for problem in problems(&without_trailing_dash(prefix)) {
        errors.push(invalid("metadata.generateName", prefix, &problem));
    }
}

fn check_name(
    problems: impl Fn(&str) -> Vec<String>,
    metadata: &Value,
    errors: &mut Vec<FieldError>,
) {
    let name = metadata["name"].as_str().unwrap_or_default();
    if name.is_empty() {
        errors.push(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        for problem in problems(name) {
            errors.push(invalid("metadata.name", name, &problem));
        }
    }
}

/// Returns a prefix of generated names with a letter in place of a trailing dash, with which no name may end.
#[doc(alias = "maskTrailingDash")]
fn without_trailing_dash(prefix: &str) -> Cow<'_, str> {
    match prefix.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut letters = rest.chars();
            letters.next_back();
            format!("{}a", letters.as_str()).into()
        }
        _ => prefix.into(),
    }
}

fn check_annotations(annotations: &Value, errors: &mut Vec<FieldError>) {
    let mut bytes = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        for problem in qualified_name_problems(&key.to_lowercase()) {
            errors.push(invalid("metadata.annotations", key, &problem));
        }
        bytes += key.len() + value.as_str().map_or(0, str::len);
    }
    if bytes > ANNOTATIONS_MAX_BYTES {
        errors.push(FieldError::too_long(
            "metadata.annotations",
            ANNOTATIONS_MAX_BYTES,
        ));
    }
}

fn check_labels(labels: &Value, errors: &mut Vec<FieldError>) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        for problem in qualified_name_problems(key) {
            errors.push(invalid("metadata.labels", key, &problem));
        }
        let value = value.as_str().unwrap_or_default();
        for problem in label_value_problems(value) {
            errors.push(invalid("metadata.labels", value, &problem));
        }
    }
}

fn check_owners(owners: &Value, errors: &mut Vec<FieldError>) {
    const FIELD: &str = "metadata.ownerReferences";
    const PRINTED_MAX_BYTES: usize = 1 << 20;
    let owners = owners.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |owner: &Value, field: &str| owner[field].as_str().unwrap_or_default().to_owned();
    let mut controller: Option<String> = None;
    let mut printed = 0;
    for owner in owners {
        if !names_version(&text(owner, "apiVersion")) {
            errors.push(FieldError::invalid(
                format!("{FIELD}.apiVersion"),
                &json!(text(owner, "apiVersion")),
                "version must not be empty",
            ));
        }
        for (field, why) in [
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            let given = text(owner, field);
            let is_missing = match field {
                "apiVersion" => !names_version(&given),
                _ => given.is_empty(),
            };
            if is_missing {
                errors.push(invalid(&format!("{FIELD}.{field}"), &given, why));
            }
        }
        if owner["apiVersion"] == "v1" && owner["kind"] == "Event" {
            errors.push(FieldError::invalid_ordered(
                FIELD,
                owner,
                &print_owner(owner),
                "/v1, Kind=Event is disallowed from being an owner",
            ));
        }
        if owner["controller"] != true {
            continue;
        }
        let this = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
        let Some(first) = &controller else {
            controller = Some(this);
            continue;
        };
        // Each error has all owners.
        if printed > PRINTED_MAX_BYTES {
            continue;
        }
        let all: Vec<String> = owners.iter().map(print_owner).collect();
        let all = all.join(",");
        printed += all.len();
        errors.push(FieldError::invalid_ordered(
            FIELD,
            &Value::from(owners),
            &format!("[{all}]"),
            &format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
            ),
        ));
    }
}

/// Returns whether the text is a version, or a group and a version.
fn names_version(api_version: &str) -> bool {
    let version = match api_version.split_once('/') {
        None => api_version,
        Some((_, version)) => version,
    };
    !version.is_empty() && !version.contains('/')
}

/// An owner as Go prints it: its fields in their order.
fn print_owner(owner: &Value) -> String {
    let fields = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let is_always_shown = |field: &str| !matches!(field, "controller" | "blockOwnerDeletion");
    let printed: Vec<String> = fields
        .into_iter()
        .filter(|field| is_always_shown(field) || !owner[*field].is_null())
        .map(|field| match &owner[field] {
            Value::Null => format!("{field:?}:\"\""),
            value => format!("{field:?}:{value}"),
        })
        .collect();
    format!("{{{}}}", printed.join(","))
}

fn check_finalizers(finalizers: &Value, errors: &mut Vec<FieldError>) {
    let finalizers = finalizers.as_array().map(Vec::as_slice).unwrap_or_default();
    for finalizer in finalizers.iter().filter_map(Value::as_str) {
        for problem in qualified_name_problems(finalizer) {
            errors.push(invalid("metadata.finalizers", finalizer, &problem));
        }
    }
    if ["orphan", "foregroundDeletion"]
        .iter()
        .all(|standard| finalizers.iter().any(|finalizer| finalizer == standard))
    {
        errors.push(FieldError::invalid(
            "metadata.finalizers",
            &Value::Array(finalizers.to_vec()),
            "finalizer orphan and foregroundDeletion cannot be both set",
        ));
    }
}

/// Built-in kinds take finalizers without a domain only if they are well known.
fn check_kube_finalizers(
    rules: &MetadataRules<'_>,
    metadata: &Value,
    errors: &mut Vec<FieldError>,
) {
    if !rules.habits.checks_finalizers {
        return;
    }
    let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
    for (place, finalizer) in finalizers.filter_map(Value::as_str).enumerate() {
        if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer) {
            errors.push(invalid(
                &format!("metadata.finalizers[{place}]"),
                finalizer,
                "name is neither a standard finalizer name nor is it fully qualified",
            ));
        }
    }
}

/// Returns the warnings about finalizers that a custom resource did not have before.
pub fn finalizer_warnings(metadata: &Value, old: Option<&Value>) -> Vec<String> {
    let of = |metadata: &Value| -> BTreeSet<String> {
        let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
        let finalizers = finalizers.filter_map(Value::as_str);
        finalizers.map(str::to_owned).collect()
    };
    let before = old.map(of).unwrap_or_default();
    let added: Vec<String> = of(metadata).difference(&before).cloned().collect();
    let warning =
        |finalizer: &String, why: &str| format!("metadata.finalizers: {finalizer:?}: {why}");
    let mut warnings = Vec::new();
    for finalizer in &added {
        for problem in qualified_name_problems(finalizer) {
            warnings.push(warning(finalizer, &problem));
        }
        if finalizer.contains('/') || STANDARD_FINALIZERS.contains(&finalizer.as_str()) {
            continue;
        }
        let form = if finalizer.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        warnings.push(warning(
            finalizer,
            &format!(
                "prefer a domain-qualified finalizer name{form} to avoid accidental conflicts with other finalizer \
                 writers"
            ),
        ));
    }
    warnings
}

fn invalid(field: &str, value: &str, problem: &str) -> FieldError {
    FieldError::invalid(field, &json!(value), problem)
}
