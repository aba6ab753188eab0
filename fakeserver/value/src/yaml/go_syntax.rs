//! Values of YAML as Go prints them in errors, in its own syntax.

use crate::go_text;

use super::decode::{Key, YamlValue};

/// Returns a key that an error is about.
pub(super) fn key(key: &Key) -> String {
    match key {
        Key::Null => "<nil>".to_owned(),
        Key::Bool(value) => value.to_string(),
        Key::Int(number) => number.to_string(),
        Key::Unsigned(number) => format!("{number:#x}"),
        Key::Float(bits) => float(f64::from_bits(*bits)),
        Key::Text(text) => go_text::quote(text),
    }
}

/// Returns a value that an error is about.
pub(super) fn argument(printed: &YamlValue) -> String {
    match printed {
        YamlValue::Null => "<nil>".to_owned(),
        other => value(other),
    }
}

/// Returns a value that is part of another one.
pub(super) fn value(printed: &YamlValue) -> String {
    match printed {
        YamlValue::Null => "interface {}(nil)".to_owned(),
        YamlValue::Bool(value) => value.to_string(),
        YamlValue::Int(number) => number.to_string(),
        YamlValue::Unsigned(number) => format!("{number:#x}"),
        YamlValue::Float(number) => float(*number),
        YamlValue::Text(text) => go_text::quote(text),
        YamlValue::List(items) => {
            let items: Vec<String> = items.iter().map(value).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        YamlValue::Map(members) => {
            let members = members.iter().map(|(name, member)| {
                let name = match name {
                    Key::Null => "interface {}(nil)".to_owned(),
                    name => key(name),
                };
                format!("{name}:{}", value(member))
            });
            let members: Vec<String> = members.collect();
            format!(
                "map[interface {{}}]interface {{}}{{{}}}",
                members.join(", ")
            )
        }
    }
}

/// Returns a float, which may be none that JSON has.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        let sign = if number > 0.0 { '+' } else { '-' };
        format!("{sign}Inf")
    } else {
        go_text::float(number)
    }
}

/// Returns the name of a member whose key is a float: its digits are those of a short one.
pub(super) fn name(number: f64) -> String {
    if number.is_finite() {
        #[expect(clippy::cast_possible_truncation, reason = "names have no more digits")]
        let digits = (number as f32).to_string();
        return float(digits.parse().unwrap_or(number));
    }
    if number.is_nan() {
        ".nan".to_owned()
    } else if number > 0.0 {
        ".inf".to_owned()
    } else {
        "-.inf".to_owned()
    }
}
