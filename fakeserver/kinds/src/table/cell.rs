//! Building blocks of cells.

use fakeserver_value::read::{items, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::age::since;

/// The cells of a row, in the order of the columns.
pub type Cells = Vec<Value>;

pub const NONE: &str = "<none>";
pub const UNSET: &str = "<unset>";
/// The number of names that [`some_of`] shows.
const SHOWN_MAX: usize = 3;

/// The cell of a column that means the same for all types; for other columns, one that says nothing.
pub fn named(column: &str, kind: &str, object: &Value, now: Timestamp) -> Value {
    match (column, kind) {
        ("Name", _) => json!(name(object)),
        ("Age", _) => json!(age(object, now)),
        ("Created At", _) => object["metadata"]["creationTimestamp"].clone(),
        (_, "integer") => json!(0),
        (_, "boolean") => json!(false),
        _ => json!(NONE),
    }
}

pub fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

pub fn age(object: &Value, now: Timestamp) -> String {
    since(&object["metadata"]["creationTimestamp"], now)
}

/// Returns a text, or `otherwise` if it is empty.
pub fn text_or<'a>(value: &'a Value, otherwise: &'a str) -> &'a str {
    match text(value) {
        "" => otherwise,
        text => text,
    }
}

/// A number or a text, as it stands.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Prints labels as `a=b,c=d`, or `<none>` without any.
pub fn labels(value: &Value) -> String {
    let pairs: Vec<String> = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(label, value)| format!("{label}={}", text(value)))
        .collect();
    or_none(pairs.join(","))
}

/// A label selector in the form in which it is written in queries, or that it selects everything.
pub fn selector(value: &Value) -> String {
    if value.is_null() {
        return NONE.to_owned();
    }
    or_none(fakeserver_value::object::selectors::print_label_selector(
        value,
    ))
}

pub fn or_none(text: String) -> String {
    if text.is_empty() {
        NONE.to_owned()
    } else {
        text
    }
}

/// Returns the first few of a list, and the number of the others.
pub fn some_of(all: &[String]) -> String {
    if all.len() <= SHOWN_MAX {
        return or_none(all.join(","));
    }
    format!(
        "{} + {} more...",
        all[..SHOWN_MAX].join(","),
        all.len() - SHOWN_MAX
    )
}

/// The names and the images of the containers of a pod's template.
pub fn containers(pod_spec: &Value) -> [Value; 2] {
    let all = |field: &str| -> Value {
        let values = items(&pod_spec["containers"]).iter();
        let values: Vec<&str> = values.map(|container| text(&container[field])).collect();
        values.join(",").into()
    };
    [all("name"), all("image")]
}

/// Returns `25%` or `3`, or `N/A` for null.
pub fn bound(value: &Value) -> String {
    match value {
        Value::Null => "N/A".to_owned(),
        value => plain(value),
    }
}
