//! The selectors of access reviews.
//!
//! The rules of RBAC do not know selectors: a review with one is decided like one for the whole resource.

use fakeserver_value::{
    field::Field,
    findings::Findings,
    object::selectors::{FieldSelector, LabelSelector},
};
use serde_json::Value;

use crate::formats::{check_selector_requirement, check_selector_values};

/// Checks the selectors of the attributes of a resource.
pub fn check(attributes: &Field<'_>, found: &mut Findings) {
    let fields = attributes.at("fieldSelector");
    check_form(&fields, found);
    for requirement in fields.at("requirements").items() {
        let key = requirement.at("key");
        if key.text().is_empty() {
            found.required(&key, "must be specified");
        }
        check_selector_values(&requirement, true, found);
    }
    let labels = attributes.at("labelSelector");
    check_form(&labels, found);
    for requirement in labels.at("requirements").items() {
        check_selector_requirement(&requirement, true, found);
    }
}

/// Checks that a selector is either text or a list.
fn check_form(selector: &Field<'_>, found: &mut Findings) {
    if selector.value().is_null() {
        return;
    }
    let (raw, requirements) = (selector.at("rawSelector"), selector.at("requirements"));
    match (raw.text().is_empty(), requirements.is_empty()) {
        (false, false) => {
            found.invalid(&raw, "may not specified at the same time as requirements");
        }
        (true, true) => {
            let path = selector.path();
            let why = format!("when {path} is specified, requirements or rawSelector is required");
            found.required(&requirements, &why);
        }
        _ => {}
    }
}

/// Returns what is said about the selectors that are ignored, in whole or in part, because they cannot be read.
pub fn evaluation_error(attributes: &Value) -> String {
    let read_fields = |text: &str| FieldSelector::parse(text, |_| Ok(())).is_ok();
    let read_labels = |text: &str| LabelSelector::parse(text).is_ok();
    let ignored = [
        ignored(
            "fieldSelector",
            &attributes["fieldSelector"],
            read_fields,
            is_field_requirement,
        ),
        ignored(
            "labelSelector",
            &attributes["labelSelector"],
            read_labels,
            is_label_requirement,
        ),
    ];
    ignored.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn ignored(
    name: &str,
    selector: &Value,
    reads: impl Fn(&str) -> bool,
    is_readable: impl Fn(&Value) -> bool,
) -> Option<String> {
    let requirements = selector["requirements"].as_array();
    let requirements = requirements.filter(|requirements| !requirements.is_empty());
    let (readable, all) = if let Some(requirements) = requirements {
        let readable = requirements.iter().filter(|one| is_readable(one));
        (readable.count(), requirements.len())
    } else {
        let raw = selector["rawSelector"].as_str().unwrap_or_default();
        (usize::from(reads(raw)), 1)
    };
    let how = match readable {
        _ if readable == all => return None,
        0 => "ignored",
        _ => "partially ignored",
    };
    Some(format!(
        "spec.resourceAttributes.{name} {how} due to parse error"
    ))
}

/// Returns true for one value that a field has or has not; more is not supported.
fn is_field_requirement(requirement: &Value) -> bool {
    let values = requirement["values"].as_array().map_or(0, Vec::len);
    matches!(requirement["operator"].as_str(), Some("In" | "NotIn")) && values == 1
}

/// Returns true for an operator that is known; the rest was checked.
fn is_label_requirement(requirement: &Value) -> bool {
    let operator = requirement["operator"].as_str().unwrap_or_default();
    ["In", "NotIn", "Exists", "DoesNotExist"].contains(&operator)
}
