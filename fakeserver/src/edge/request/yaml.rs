//! YAML in bodies, which becomes JSON before it is read.

use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, Error, Options};

use super::yaml_words::in_go_words;
use crate::value::schema::print_double;

/// The beginning of the errors of strict reading.
const UNMARSHAL: &str = "yaml: unmarshal errors:\n";

/// Reads the first document; of equal keys, the last one counts.
///
/// # Errors
///
/// The bytes are no YAML, in the words of a real server.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, String> {
    if let Some(error) = tab_error(bytes) {
        return Err(error);
    }
    let read = match serde_saphyr::from_slice_with_options::<Value>(bytes, lenient()) {
        Err(error) if matches!(error.without_snippet(), Error::MultipleDocuments { .. }) => {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            let documents = serde_saphyr::from_multiple_with_options::<Value>(text, lenient());
            documents.map(|documents| documents.into_iter().next().unwrap_or_default())
        }
        read => read,
    };
    match read {
        Ok(value) => Ok(with_integers(value)),
        Err(error) => {
            let error = error.without_snippet().to_string();
            Err(in_go_words(error.lines().next().unwrap_or_default(), bytes))
        }
    }
}

/// Returns the error of a text whose first line is indented by a tab.
fn tab_error(bytes: &[u8]) -> Option<String> {
    const WRONG: &str = "found character that cannot start any token";
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let (line, text) = lines.find(|(_, text)| !text.trim_ascii().is_empty())?;
    match (line, text.first()) {
        (0, Some(b'\t')) => Some(format!("yaml: {WRONG}")),
        (line, Some(b'\t')) => Some(format!("yaml: line {}: {WRONG}", line + 1)),
        _ => None,
    }
}

/// Converts an object to JSON.
///
/// # Errors
///
/// As [`parse`] has.
pub(crate) fn yaml_to_json(bytes: &[u8]) -> Result<Vec<u8>, String> {
    parse(bytes).map(|object| object.to_string().into_bytes())
}

/// Returns the error of keys that are there twice.
pub(crate) fn repeated_keys(bytes: &[u8]) -> Option<String> {
    let error = serde_saphyr::from_slice::<Value>(bytes).err()?;
    match error.without_snippet() {
        Error::DuplicateMappingKey { key, location } => Some(format!(
            "{UNMARSHAL}  line {}: key {:?} already set in map",
            location.line(),
            key.as_deref().unwrap_or_default(),
        )),
        _ => None,
    }
}

/// Returns the warnings that an error of strict reading becomes: one for each of its lines.
pub(crate) fn strict_warnings(error: &str) -> Vec<String> {
    let lines = error
        .split_once(UNMARSHAL)
        .map_or(error, |(_, lines)| lines);
    lines.lines().map(|line| line.trim().to_owned()).collect()
}

/// Returns the options of reading YAML: of equal keys, the last one counts.
fn lenient() -> Options {
    serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins }
}

/// Returns a value with the numbers that JSON made of YAML has: those that are whole are integers.
fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            print_double(number.as_f64().unwrap_or_default())
        }
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name, with_integers(value)))
                .collect(),
        ),
        other => other,
    }
}
