//! Deprecated versions, and the warnings that their clients receive.

use fakeserver_value::{read::text, status::FieldError};
use serde_json::Value;

use super::compare_versions;

/// The maximum length of a warning.
const WARNING_MAX_BYTES: usize = 256;

/// Returns the warning of every answer in `version`, an item of `spec.versions` of `crd`.
pub(super) fn warning(crd: &Value, version: &Value) -> Option<String> {
    if version["deprecated"] != true {
        return None;
    }
    if let Some(own) = version["deprecationWarning"].as_str() {
        return Some(own.to_owned());
    }
    let spec = &crd["spec"];
    let (group, kind) = (text(&spec["group"]), text(&spec["names"]["kind"]));
    let name = text(&version["name"]);
    let versions = spec["versions"].as_array().into_iter().flatten();
    let better = versions
        .filter(|other| other["served"] == true && other["deprecated"] != true)
        .map(|other| text(&other["name"]))
        .filter(|other| compare_versions(other, name).is_lt())
        .min_by(|a, b| compare_versions(a, b));
    let instead = better.map(|better| format!("; use {group}/{better} {kind}"));
    let instead = instead.unwrap_or_default();
    Some(format!("{group}/{name} {kind} is deprecated{instead}"))
}

/// Returns the errors of the warning of an item of `spec.versions` at `path`.
pub(super) fn warning_errors(version: &Value, path: &str) -> Vec<FieldError> {
    let given = &version["deprecationWarning"];
    let Some(warning) = given.as_str() else {
        return Vec::new();
    };
    let mut why = Vec::new();
    if version["deprecated"] == true {
        if warning.len() > WARNING_MAX_BYTES {
            why.push(format!("must be <= {WARNING_MAX_BYTES} characters long"));
        }
        if warning.is_empty() {
            why.push("must not be an empty string".to_owned());
        }
        if let Some((at, _)) = warning
            .char_indices()
            .find(|(_, letter)| letter.is_control())
        {
            why.push(format!(
                "must only contain printable UTF-8 characters; non-printable character found at index {at}"
            ));
        }
    } else {
        why.push("can only be set for deprecated versions".to_owned());
    }
    let path = format!("{path}.deprecationWarning");
    let error = |why: &String| FieldError::invalid(path.as_str(), given, why);
    why.iter().map(error).collect()
}
