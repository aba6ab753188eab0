//! Label selectors in objects: `matchLabels` and `matchExpressions`.

use serde_json::Value;

/// A selector in the grammar of queries, its requirements in the order of their keys. Nothing for one that selects all.
pub fn print_label_selector(selector: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut requirements: Vec<(String, String)> = labels
        .map(|(label, value)| (label.clone(), format!("{label}={}", text(value))))
        .collect();
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    for expression in expressions {
        let key = text(&expression["key"]);
        let values = expression["values"].as_array().into_iter().flatten();
        let mut values: Vec<String> = values.map(text).collect();
        values.sort_unstable();
        let values = values.join(",");
        let printed = match expression["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.clone(),
            "DoesNotExist" => format!("!{key}"),
            _ => continue,
        };
        requirements.push((key, printed));
    }
    // Stable: requirements on one label stay in their order.
    requirements.sort_by(|(a, _), (b, _)| a.cmp(b));
    let printed: Vec<String> = requirements.into_iter().map(|(_, text)| text).collect();
    printed.join(",")
}
