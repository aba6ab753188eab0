//! The body of an apply: a configuration in YAML, of which JSON is a subset.

use serde_json::{Value, json};
use serde_saphyr::{DuplicateKeyPolicy, Error, Options};

use crate::value::{parse::json_type, schema::print_double, status::Status};

const CONVERTING: &str = "error converting YAML to JSON: yaml: ";

/// Reads a configuration; of equal keys, the last one counts. One that is empty has no fields.
pub(crate) fn parse_config(bytes: &[u8]) -> Result<Value, Status> {
    match serde_saphyr::from_slice_with_options::<Value>(bytes, lenient()) {
        Ok(Value::Null) => Ok(json!({})),
        Ok(config @ Value::Object(_)) => Ok(with_integers(config)),
        Ok(other) => Err(refused(&format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type \
             map[string]interface {{}}",
            json_type(&other)
        ))),
        Err(error) => {
            let error = error.without_snippet().to_string();
            let first = error.lines().next().unwrap_or_default();
            Err(refused(&format!(
                "{CONVERTING}{}",
                in_go_words(first, bytes)
            )))
        }
    }
}

/// Returns the options of reading YAML: of equal keys, the last one counts.
pub(super) fn lenient() -> Options {
    serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins }
}

/// Returns a value with the numbers that JSON made of YAML has: those that are whole are integers.
pub(super) fn with_integers(value: Value) -> Value {
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

/// Returns the key that is there twice in a configuration, which strict reading rejects.
pub(crate) fn duplicate_key(bytes: &[u8]) -> Option<String> {
    let error = serde_saphyr::from_slice::<Value>(bytes).err()?;
    match error.without_snippet() {
        Error::DuplicateMappingKey { key, location } => Some(format!(
            "{CONVERTING}unmarshal errors:\n  line {}: key {:?} already set in map",
            location.line(),
            key.as_deref().unwrap_or_default(),
        )),
        _ => None,
    }
}

fn refused(why: &str) -> Status {
    Status::bad_request(format!("error decoding patch: {why}"))
}

/// Translates an error of YAML into the words of a real server, for the commonest mistakes.
///
/// It counts lines from the place where it began to read what is wrong, or, if that is the first line, from the place of
/// the mistake. Its scanner counts them from 1, its parser from 0, and the first is not told.
pub(super) fn in_go_words(error: &str, text: &[u8]) -> String {
    let (problem, place) = error.rsplit_once(" at line ").unwrap_or((error, ""));
    let line: Option<usize> = place.split(',').next().and_then(|line| line.parse().ok());
    let line = line.unwrap_or(1);
    let last = text.split(|byte| *byte == b'\n').count() - 1;
    let problem = match problem.rsplit_once(", ") {
        Some((context, rest)) if context.starts_with("while ") => rest,
        _ => problem,
    };
    let parsing = line - 1;
    let scanning = if line > 1 { line } else { 0 };
    let (line, problem) = match problem {
        "unclosed bracket '{'" => (unclosed(parsing, last), "did not find expected ',' or '}'"),
        "unclosed bracket '['" => (unclosed(parsing, last), "did not find expected ',' or ']'"),
        "unclosed quote" => (
            unclosed(scanning, last + 1),
            "found unexpected end of stream",
        ),
        other if other.starts_with("did not find expected") => (parsing, other),
        other if other.starts_with("unexpected character") => {
            (scanning, "found character that cannot start any token")
        }
        other => (scanning, other),
    };
    match line {
        0 => problem.to_owned(),
        line => format!("line {line}: {problem}"),
    }
}

/// Returns the line of something that has no end: where it begins, or, if that is the first line, the last one.
fn unclosed(begins: usize, ends: usize) -> usize {
    if begins > 0 { begins } else { ends }
}
