//! What pods, and what makes pods, must say.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    object::selectors::{LabelSelector, print_label_selector},
    resource::ResourceType,
    status::FieldError,
};

/// What is missing in the spec of `object`, or does not fit together.
pub(crate) fn spec_errors(resource: &ResourceType, object: &Value) -> Vec<FieldError> {
    let spec = &object["spec"];
    match (&*resource.group, &*resource.plural) {
        ("", "pods") => pod_spec_errors("spec", spec),
        ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets") => {
            let mut errors = selector_errors(spec);
            let template = &spec["template"]["spec"];
            errors.extend(pod_spec_errors("spec.template.spec", template));
            errors
        }
        ("batch", "jobs") => pod_spec_errors("spec.template.spec", &spec["template"]["spec"]),
        _ => Vec::new(),
    }
}

fn pod_spec_errors(path: &str, spec: &Value) -> Vec<FieldError> {
    let containers = spec["containers"].as_array();
    let Some(containers) = containers.filter(|containers| !containers.is_empty()) else {
        return vec![FieldError::required(format!("{path}.containers"), "")];
    };
    let mut errors = Vec::new();
    for (index, container) in containers.iter().enumerate() {
        for field in ["name", "image"] {
            if container[field].as_str().unwrap_or_default().is_empty() {
                let field = format!("{path}.containers[{index}].{field}");
                errors.push(FieldError::required(field, ""));
            }
        }
    }
    errors
}

/// The pods that are made must be among those that are counted.
fn selector_errors(spec: &Value) -> Vec<FieldError> {
    let selector = &spec["selector"];
    if selector.is_null() {
        return vec![FieldError::required("spec.selector", "")];
    }
    let labels = &spec["template"]["metadata"]["labels"];
    let has: BTreeMap<String, String> = labels
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(label, value)| Some((label.clone(), value.as_str()?.to_owned())))
        .collect();
    match LabelSelector::parse(&print_label_selector(selector)) {
        Ok(selector) if !selector.matches(&has) => vec![FieldError::invalid(
            "spec.template.metadata.labels",
            labels,
            "`selector` does not match template `labels`",
        )],
        _ => Vec::new(),
    }
}
