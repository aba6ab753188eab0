//! YAML, as Kubernetes reads and writes it.
//!
//! Kubernetes reads the YAML of version 1.1, with a port of libyaml: `yes` is true, `0777` is a number in octal digits. A
//! text becomes nodes, nodes become values, and these become JSON. Each step has errors of its own, which come in this order.
//! The work of each step is bounded by the length of the text.

mod lines;
mod limits;
mod nodes;
mod scalar;
mod decode;
mod go_syntax;
mod documents;
mod write;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::Value;

use self::decode::decode;
pub use self::documents::{YamlDocument, documents, split};
pub use self::nodes::{Content, Document, Node, NodeId, Scalar};
pub use self::write::to_string;

/// The beginning of the errors of strict reading.
const UNMARSHAL: &str = "yaml: unmarshal errors:\n";

/// Parses the first document; of duplicate keys, the last one counts.
///
/// # Errors
///
/// The bytes are invalid YAML, or cannot be converted to JSON, in a real server's words.
pub fn parse(bytes: &[u8]) -> Result<Value, String> {
    Document::parse(bytes)?.value()
}

/// Converts an object to JSON.
///
/// # Errors
///
/// As [`parse`] has.
pub fn yaml_to_json(bytes: &[u8]) -> Result<Vec<u8>, String> {
    parse(bytes).map(|object| object.to_string().into_bytes())
}

/// Reads a text of one document as a value of a type.
///
/// # Errors
///
/// The text is invalid YAML, has several documents, or has not the form of the type; the message names the field.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    from_value(Document::parse_single(text)?.value()?)
}

/// Reads a value of YAML as one of a type.
///
/// # Errors
///
/// It has not the form of the type; the message names the field.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let reason = error.inner();
        match error.path().iter().next() {
            None => reason.to_string(),
            Some(_) => format!("{}: {reason}", error.path()),
        }
    })
}

/// Returns the error of keys that are there twice.
pub fn repeated_keys(bytes: &[u8]) -> Option<String> {
    let document = Document::parse(bytes).ok()?;
    let repeated = decode(&document).ok()?.repeated;
    let lines: Vec<String> = repeated.iter().map(|line| format!("  {line}")).collect();
    (!lines.is_empty()).then(|| format!("{UNMARSHAL}{}", lines.join("\n")))
}

/// Returns the warnings that an error of strict reading becomes: one for each of its lines.
pub fn strict_warnings(error: &str) -> Vec<String> {
    let lines = error
        .split_once(UNMARSHAL)
        .map_or(error, |(_, lines)| lines);
    lines.lines().map(|line| line.trim().to_owned()).collect()
}
