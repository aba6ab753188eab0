//! Printed cells of webhook configurations, admission policies and their bindings.

use fakeserver_value::read::{items, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::cell::{Cells, age, name};

const UNSET: &str = "<unset>";

/// Returns the cells of a webhook configuration.
pub(super) fn webhooks(object: &Value, now: Timestamp) -> Cells {
    let count = items(&object["webhooks"]).len();
    vec![json!(name(object)), json!(count), json!(age(object, now))]
}

/// Returns the cells of a validating policy.
pub(super) fn validating_policy(object: &Value, now: Timestamp) -> Cells {
    policy(object, "validations", now)
}

/// Returns the cells of a mutating policy.
pub(super) fn mutating_policy(object: &Value, now: Timestamp) -> Cells {
    policy(object, "mutations", now)
}

fn policy(object: &Value, rules: &str, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let params = match &spec["paramKind"] {
        Value::Null => UNSET.to_owned(),
        params => format!("{}/{}", text(&params["apiVersion"]), text(&params["kind"])),
    };
    vec![
        json!(name(object)),
        json!(items(&spec[rules]).len()),
        json!(params),
        json!(age(object, now)),
    ]
}

/// Returns the cells of a binding.
pub(super) fn binding(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    vec![
        json!(name(object)),
        json!(text(&spec["policyName"])),
        json!(params(&spec["paramRef"])),
        json!(age(object, now)),
    ]
}

/// Returns the parameters to which a binding refers, by name or by selector.
fn params(reference: &Value) -> String {
    let (name, namespace) = (text(&reference["name"]), text(&reference["namespace"]));
    match (name, namespace) {
        ("", _) if reference["selector"].is_object() => selector(&reference["selector"]),
        ("", _) => UNSET.to_owned(),
        (name, "") => format!("*/{name}"),
        (name, namespace) => format!("{namespace}/{name}"),
    }
}

/// Returns a selector as Go prints the struct.
fn selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}: {},", text(value)))
        .collect();
    let labels = labels.concat();
    let requirements = items(&selector["matchExpressions"]).iter();
    let requirements: Vec<String> = requirements
        .map(|requirement| {
            let values: Vec<&str> = items(&requirement["values"]).iter().map(text).collect();
            format!(
                "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
                text(&requirement["key"]),
                text(&requirement["operator"]),
                values.join(" ")
            )
        })
        .collect();
    let requirements = requirements.concat();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{requirements}}},}}"
    )
}
