//! Values as Go prints them in messages.

use std::fmt::Write as _;

use serde_json::Value;

/// Returns a text in quotes, as the verb `%q` prints it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            control if control.is_ascii_control() => {
                write!(quoted, "\\x{:02x}", u32::from(control)).expect("a string takes all");
            }
            other if is_print(other) => quoted.push(other),
            other if u32::from(other) <= 0xffff => {
                write!(quoted, "\\u{:04x}", u32::from(other)).expect("a string takes all");
            }
            other => {
                write!(quoted, "\\U{:08x}", u32::from(other)).expect("a string takes all");
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether Go's `unicode.IsPrint` counts a character as printable: a letter, mark, number, punctuation, symbol, or
/// the ASCII space.
pub fn is_print(letter: char) -> bool {
    if letter.is_ascii() {
        return !letter.is_ascii_control();
    }
    // Behind a letter, since only a leading combining mark is escaped.
    let text = ['a', letter].iter().collect::<String>();
    !text.escape_debug().to_string().contains("\\u{")
}

/// Returns a number as the verb `%v` prints a float: with an exponent if it is small or great.
pub fn float(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// Returns a value as an error of a field shows it.
pub fn printed_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or_default()),
        other => escape_html(&other.to_string()),
    }
}

/// Returns JSON as Go prints it, which can stand in a page of HTML.
pub fn escape_html(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns JSON without the spaces between its parts, as Go prints raw JSON.
pub fn compact(json: &str) -> String {
    let mut is_in_text = false;
    let mut is_escaped = false;
    let mut compact = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            ' ' | '\t' | '\r' | '\n' if !is_in_text => continue,
            '"' if !is_escaped => is_in_text = !is_in_text,
            _ => {}
        }
        is_escaped = is_in_text && letter == '\\' && !is_escaped;
        compact.push(letter);
    }
    escape_html(&compact)
}

/// Returns a value without a type as Go would write it in a program, as the verb `%#v` prints it.
pub fn syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", quote(name), syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
        Value::String(text) => quote(text),
        other => other.to_string(),
    }
}

/// Returns a value as the verb `%v` prints it.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members: Vec<String> = members
                .map(|(name, value)| format!("{name}:{}", plain(value)))
                .collect();
            format!("map[{}]", members.join(" "))
        }
        Value::Number(number) if number.is_f64() => float(number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

/// Returns the name of the type by which Go holds a value of JSON.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compact_outside_of_strings() {
        let spaced = "{ \"a b\" : [ 1 , \"\\\" <\" ] }\n";
        assert_eq!(compact(spaced), "{\"a b\":[1,\"\\\" \\u003c\"]}");
    }

    #[test]
    fn characters_without_a_glyph_are_escaped() {
        let printable = "aé\u{301}漢🪁~";
        assert!(printable.chars().all(is_print));
        assert_eq!(quote(printable), format!("\"{printable}\""));
        assert_eq!(
            quote("\u{a0}\u{200b}\u{ad}\u{e000}\u{e0001}\u{7f}"),
            r#""\u00a0\u200b\u00ad\ue000\U000e0001\x7f""#
        );
    }

    #[test]
    fn floats_have_exponents_as_go_prints_them() {
        assert_eq!(float(1000.0), "1000");
        assert_eq!(float(1.5), "1.5");
        assert_eq!(float(1_000_000.0), "1e+06");
        assert_eq!(float(0.000_01), "1e-05");
    }
}
