//! JSON as Go's verbs print it in the errors of patches.

use serde_json::Value;

use crate::go_text::{plain, type_name};

/// Prints a value as Go's `%s` does, which marks values that are no text: `%!s(int64=5)`.
pub(super) fn print_as_text(value: &Value) -> String {
    match value {
        Value::Null => go_type(value).to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("%!s({}={})", go_type(value), plain(value)),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(print_as_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields: Vec<_> = fields
                .map(|(key, value)| format!("{key}:{}", print_as_text(value)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// Prints a list as `%v` does: `[a b]`.
pub(super) fn print_list(items: &[Value]) -> String {
    let items: Vec<_> = items.iter().map(plain).collect();
    format!("[{}]", items.join(" "))
}

/// Returns the Go type of a value from JSON, as `%s` prints it.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        other => type_name(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_absent_values_are_remarked_on() {
        let value = json!({"a": [1, 1e6, true, null], "b": "text"});
        assert_eq!(
            print_as_text(&value),
            "map[a:[%!s(int64=1) %!s(float64=1e+06) %!s(bool=true) %!s(<nil>)] b:text]"
        );
        assert_eq!(
            print_list(&[json!(1e6), json!("x"), json!(null)]),
            "[1e+06 x <nil>]"
        );
    }
}
