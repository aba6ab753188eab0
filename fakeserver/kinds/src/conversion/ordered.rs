//! JSON in annotations, with its members in the order in which a real server writes them.

use serde_json::Value;

/// The order of the members that annotations keep. All types agree on the order of their common names.
const ORDER: [&str; 39] = [
    "type",
    "status",
    "lastTransitionTime",
    "reason",
    "message",
    "object",
    "pods",
    "resource",
    "containerResource",
    "external",
    "target",
    "kind",
    "metricName",
    "metricSelector",
    "targetValue",
    "currentValue",
    "name",
    "apiVersion",
    "targetAverageUtilization",
    "currentAverageUtilization",
    "targetAverageValue",
    "currentAverageValue",
    "selector",
    "averageValue",
    "container",
    "matchLabels",
    "matchExpressions",
    "key",
    "operator",
    "values",
    "ScaleUp",
    "ScaleDown",
    "StabilizationWindowSeconds",
    "SelectPolicy",
    "Policies",
    "Tolerance",
    "Type",
    "Value",
    "PeriodSeconds",
];

/// `value` as JSON text.
pub(super) fn print(value: &Value) -> String {
    let mut text = String::new();
    put(&mut text, value);
    text
}

fn put(text: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(text, index);
                put(text, item);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            // The sort is stable: names that are not known stay in their order.
            members.sort_by_key(|(name, _)| rank(name));
            text.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                separate(text, index);
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push(':');
                put(text, value);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn separate(text: &mut String, index: usize) {
    if index > 0 {
        text.push(',');
    }
}

fn rank(name: &str) -> usize {
    let position = ORDER.iter().position(|field| *field == name);
    position.unwrap_or(ORDER.len())
}
