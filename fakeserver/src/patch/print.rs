//! JSON as Go's `%v` prints it, which some error texts contain.

use serde_json::Value;

/// Prints a value: `map[a:1 b:[x y] c:<nil>]`.
pub(super) fn print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => print_list(items),
        Value::Object(fields) => {
            let fields: Vec<_> = (fields.iter())
                .map(|(key, value)| format!("{key}:{}", print(value)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// Prints a list: `[a b]`.
pub(super) fn print_list(items: &[Value]) -> String {
    let items: Vec<_> = items.iter().map(print).collect();
    format!("[{}]", items.join(" "))
}

/// The Go type of a value from JSON.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
