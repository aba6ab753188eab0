//! The body of an apply: a configuration in YAML, of which JSON is a subset.

use serde_json::{Value, json};
use serde_saphyr::{DuplicateKeyPolicy, Error};

use crate::value::{parse::json_type, schema::print_double, status::Status};

const CONVERTING: &str = "error converting YAML to JSON: yaml: ";

/// Reads a configuration; of equal keys, the last one counts. One that is empty has no fields.
pub(crate) fn parse_config(bytes: &[u8]) -> Result<Value, Status> {
    let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins };
    match serde_saphyr::from_slice_with_options::<Value>(bytes, options) {
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
            Err(refused(&format!("{CONVERTING}{}", in_go_words(first))))
        }
    }
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

/// Translates an error of YAML into the words of a real server, for the commonest mistakes. It does not count the first
/// line.
pub(super) fn in_go_words(error: &str) -> String {
    let (problem, place) = error.rsplit_once(" at line ").unwrap_or((error, ""));
    let line: Option<u32> = place.split(',').next().and_then(|line| line.parse().ok());
    let problem = match problem {
        "unclosed bracket '{'" => "did not find expected ',' or '}'",
        "unclosed bracket '['" => "did not find expected ',' or ']'",
        other => other,
    };
    match line {
        Some(line) if line > 1 => format!("line {line}: {problem}"),
        _ => problem.to_owned(),
    }
}
