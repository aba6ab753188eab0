//! Values of JSON as YAML, as Kubernetes writes them: block style, members in natural order, lines of 80 columns.

use std::cmp::Ordering;

use libyaml_safer::{Emitter, Encoding, Event, MappingStyle, ScalarStyle, SequenceStyle};
use regex::Regex;
use serde_json::{Map, Number, Value};
use std::sync::LazyLock;

use crate::go_text;

use super::scalar::is_plain_text;

/// The form of numbers to the base of 60, which other readers take for numbers.
static BASE_60: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$").expect("it is valid")
});

/// A part of a key, by which keys are sorted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum KeyPart<'a> {
    Other(char),
    /// The number of digits without leading zeros, those digits, and the number of all.
    Number(usize, &'a str, usize),
    Letter(char),
}

/// Returns a value as YAML.
pub fn to_string(value: &Value) -> String {
    let mut text = Vec::new();
    let mut emitter = Emitter::new();
    emitter.set_unicode(true);
    emitter.set_output_string(&mut text);
    let mut emit = |event| emitter.emit(event).expect("events of a value are in order");
    emit(Event::stream_start(Encoding::Utf8));
    emit(Event::document_start(None, &[], true));
    write(value, &mut emit);
    emit(Event::document_end(true));
    emit(Event::stream_end());
    drop(emitter);
    let mut text = String::from_utf8(text).expect("it is written as UTF-8");
    // The mark of a text whose line breaks at the end are kept.
    if let Some(rest) = text.strip_suffix("...\n") {
        text.truncate(rest.len());
    }
    text
}

fn write(value: &Value, emit: &mut impl FnMut(Event)) {
    match value {
        Value::Null => emit(plain("null")),
        Value::Bool(value) => emit(plain(if *value { "true" } else { "false" })),
        Value::Number(number) => emit(plain(&number_text(number))),
        Value::String(text) => emit(scalar(text, style_of(text))),
        Value::Array(items) => {
            emit(Event::sequence_start(
                None,
                None,
                true,
                SequenceStyle::Block,
            ));
            for item in items {
                write(item, emit);
            }
            emit(Event::sequence_end());
        }
        Value::Object(members) => {
            emit(Event::mapping_start(None, None, true, MappingStyle::Block));
            for (key, value) in in_order(members) {
                emit(scalar(key, style_of(key)));
                write(value, emit);
            }
            emit(Event::mapping_end());
        }
    }
}

fn plain(text: &str) -> Event {
    scalar(text, ScalarStyle::Plain)
}

fn scalar(text: &str, style: ScalarStyle) -> Event {
    Event::scalar(None, None, text, true, true, style)
}

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => go_text::float(float),
        _ => number.to_string(),
    }
}

/// Returns the style of a text: quoted if it would be read as something else.
fn style_of(text: &str) -> ScalarStyle {
    if text.contains('\n') {
        ScalarStyle::Literal
    } else if is_plain_text(text) && !BASE_60.is_match(text) {
        ScalarStyle::Plain
    } else {
        ScalarStyle::DoubleQuoted
    }
}

/// Returns members sorted by name, numbers in names by their value.
fn in_order(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by(|(one, _), (other, _)| compare(one, other));
    members
}

fn compare(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other))
}

fn parts(key: &str) -> impl Iterator<Item = KeyPart<'_>> {
    let mut rest = key;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let number = &rest[..digits];
            rest = &rest[digits..];
            let significant = number.trim_start_matches('0');
            return Some(KeyPart::Number(significant.len(), significant, digits));
        }
        rest = &rest[first.len_utf8()..];
        Some(if first.is_alphabetic() {
            KeyPart::Letter(first)
        } else {
            KeyPart::Other(first)
        })
    })
}
