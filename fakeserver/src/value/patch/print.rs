//! JSON as Go's `%v` prints it, which some error texts contain.

use serde_json::Value;

/// Prints a value as `%v` does: `map[a:1 b:[x y] c:<nil>]`.
pub(crate) fn print(value: &Value) -> String {
    print_with(value, &|scalar| match scalar {
        Value::Null => "<nil>".to_owned(),
        Value::Number(number) if number.is_f64() => {
            print_float(number.as_f64().unwrap_or_default())
        }
        scalar => scalar.to_string(),
    })
}

/// Prints a value as `%s` does, which remarks on what is no text: `%!s(int64=5)`.
pub(super) fn print_as_text(value: &Value) -> String {
    print_with(value, &|scalar| match scalar {
        Value::Null => "%!s(<nil>)".to_owned(),
        scalar => format!("%!s({}={scalar})", go_type(scalar)),
    })
}

/// Prints a list as `%v` does: `[a b]`.
pub(super) fn print_list(items: &[Value]) -> String {
    let items: Vec<_> = items.iter().map(print).collect();
    format!("[{}]", items.join(" "))
}

/// Prints a value; `scalar` prints what is neither text nor holds anything.
fn print_with(value: &Value, scalar: &dyn Fn(&Value) -> String) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => scalar(value),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| print_with(item, scalar)).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<_> = (fields.iter())
                .map(|(key, value)| format!("{key}:{}", print_with(value, scalar)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
    }
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

/// Prints a float as `%v` does: with an exponent if it is very small or very large.
fn print_float(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-4..1e21).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(rest) => ('-', rest),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}
