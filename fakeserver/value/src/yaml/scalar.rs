//! The types of scalars, by the rules of YAML 1.1.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};
use regex::Regex;

use super::{decode::YamlValue, nodes::Scalar};

/// The prefix of the tags that YAML itself defines.
pub(super) const PREFIX: &str = "tag:yaml.org,2002:";

/// The form of floats that begin with a digit or a sign.
static FLOAT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$").expect("it is valid")
});
/// The forms of timestamps.
static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})|\x20[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?)?$";
    Regex::new(pattern).expect("it is valid")
});

/// Returns the value of a scalar.
///
/// # Errors
///
/// It is not of the type that its tag names, in the words of a real server.
pub(super) fn resolve(scalar: &Scalar) -> Result<YamlValue, String> {
    let text = &*scalar.text;
    let string = || YamlValue::Text(text.to_owned());
    if scalar.tag.is_empty() {
        return Ok(if scalar.is_plain {
            by_text(text)
        } else {
            string()
        });
    }
    let Some(tag) = scalar.tag.strip_prefix(PREFIX) else {
        return Ok(string());
    };
    match tag {
        "bool" | "int" | "float" | "null" | "timestamp" => with_tag(tag, text),
        "binary" => match STANDARD.decode(text.replace(['\r', '\n'], "")) {
            Ok(data) => Ok(YamlValue::Text(String::from_utf8_lossy(&data).into_owned())),
            Err(_) => Err("yaml: !!binary value contains invalid base64 data".to_owned()),
        },
        // A text, or of a type that is unknown.
        _ => Ok(string()),
    }
}

/// Returns whether a text without quotes is read as itself.
pub(super) fn is_plain_text(text: &str) -> bool {
    text != "<<" && !TIMESTAMP.is_match(text) && matches!(by_text(text), YamlValue::Text(_))
}

/// Reads a text as the type that a tag names.
fn with_tag(tag: &str, text: &str) -> Result<YamlValue, String> {
    if tag == "timestamp" && TIMESTAMP.is_match(text) {
        return Ok(YamlValue::Text(text.to_owned()));
    }
    let value = by_text(text);
    let found = match &value {
        YamlValue::Null => "null",
        YamlValue::Bool(_) => "bool",
        YamlValue::Int(_) | YamlValue::Unsigned(_) => "int",
        YamlValue::Float(_) => "float",
        _ => "str",
    };
    match value {
        YamlValue::Int(number) if tag == "float" => {
            #[expect(clippy::cast_precision_loss, reason = "it is read as a float")]
            let number = number as f64;
            Ok(YamlValue::Float(number))
        }
        value if found == tag => Ok(value),
        _ => Err(format!(
            "yaml: cannot decode !!{found} `{text}` as a !!{tag}"
        )),
    }
}

/// Returns the value of a text without quotes and tag. A timestamp stays a text.
fn by_text(text: &str) -> YamlValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return YamlValue::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return YamlValue::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return YamlValue::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return YamlValue::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return YamlValue::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return YamlValue::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let number = match text.as_bytes()[0] {
        b'.' => float(text),
        b'0'..=b'9' | b'+' | b'-' => {
            let digits = text.replace('_', "");
            integer(&digits).or_else(|| float(&digits))
        }
        _ => None,
    };
    number.unwrap_or_else(|| YamlValue::Text(text.to_owned()))
}

/// Reads an integer with the prefix of its base.
fn integer(text: &str) -> Option<YamlValue> {
    let (is_negative, unsigned) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = unsigned.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some(_) if lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, &*lower),
    };
    // A second sign makes the text a string.
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let number = i128::from_str_radix(digits, base).ok()?;
    let number = if is_negative { -number } else { number };
    if let Ok(number) = i64::try_from(number) {
        return Some(YamlValue::Int(number));
    }
    // An unsigned number has no sign.
    let has_sign = text.starts_with(['-', '+']);
    let number = u64::try_from(number).ok().filter(|_| !has_sign)?;
    Some(YamlValue::Unsigned(number))
}

/// Reads a float; none if it is too great.
fn float(text: &str) -> Option<YamlValue> {
    let number: f64 = FLOAT.is_match(text).then(|| text.parse().ok()).flatten()?;
    number.is_finite().then_some(YamlValue::Float(number))
}
