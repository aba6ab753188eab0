//! Data items in diagnostic notation, as errors show them.

use std::fmt::{self, Display, Formatter, Write as _};

use super::item::{FALSE, Item, NULL, TRUE, UNDEFINED, negated};

// === impl Item ===

impl Display for Item<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Positive(number) => write!(f, "{number}"),
            Self::Negative(number) => write!(f, "{}", negated(*number)),
            Self::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if !text.is_empty() => write_text(f, text, '\''),
                _ => {
                    f.write_str("h'")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                    f.write_char('\'')
                }
            },
            Self::Text(text) => write_text(f, text.as_deref().unwrap_or_default(), '"'),
            Self::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", separator(index))?;
                }
                f.write_char(']')
            }
            Self::Map(pairs) => {
                f.write_char('{')?;
                for (index, (key, value)) in pairs.iter().enumerate() {
                    write!(f, "{}{key}: {value}", separator(index))?;
                }
                f.write_char('}')
            }
            Self::Tag(number, content) => write!(f, "{number}({content})"),
            Self::Simple(FALSE) => f.write_str("false"),
            Self::Simple(TRUE) => f.write_str("true"),
            Self::Simple(NULL) => f.write_str("null"),
            Self::Simple(UNDEFINED) => f.write_str("undefined"),
            Self::Simple(value) => write!(f, "simple({value})"),
            Self::Float(number) => write_float(f, *number),
        }
    }
}

fn separator(index: usize) -> &'static str {
    if index == 0 { "" } else { ", " }
}

/// Writes a text in ASCII.
fn write_text(f: &mut Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\t' => f.write_str("\\t")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\\' => f.write_str("\\\\")?,
            c if c == quote => write!(f, "\\{c}")?,
            ' '..='~' => f.write_char(c)?,
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    write!(f, "\\u{unit:04x}")?;
                }
            }
        }
    }
    f.write_char(quote)
}

/// Writes a number with a point, and with an exponent only if it is very large or small.
fn write_float(f: &mut Formatter<'_>, number: f64) -> fmt::Result {
    let size = number.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        let text = number.to_string();
        let point = if text.contains('.') { "" } else { ".0" };
        return write!(f, "{text}{point}");
    }
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    write!(f, "{mantissa}{point}e{sign}{exponent}")
}
