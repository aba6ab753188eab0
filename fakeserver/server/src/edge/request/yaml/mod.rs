//! YAML in bodies, which becomes JSON before it is read.
//!
//! A real server reads the YAML of version 1.1, with a port of libyaml: `yes` is true, `0777` is a number in octal digits. A
//! text becomes nodes, nodes become values, and these become JSON. Each step has errors of its own, which come in this order.

mod lines;
mod nodes;
mod scalar;
mod decode;
mod go_syntax;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::decode::decode;
pub use self::nodes::{Content, Document, Node, NodeId, Scalar};

/// The beginning of the errors of strict reading.
const UNMARSHAL: &str = "yaml: unmarshal errors:\n";

/// Parses the first document; of duplicate keys, the last one counts.
///
/// # Errors
///
/// The bytes are invalid YAML, or cannot be converted to JSON, in a real server's words.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, String> {
    Document::parse(bytes)?.value()
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
    let document = Document::parse(bytes).ok()?;
    let repeated = decode(&document).ok()?.repeated;
    let lines: Vec<String> = repeated.iter().map(|line| format!("  {line}")).collect();
    (!lines.is_empty()).then(|| format!("{UNMARSHAL}{}", lines.join("\n")))
}

/// Returns the warnings that an error of strict reading becomes: one for each of its lines.
pub(crate) fn strict_warnings(error: &str) -> Vec<String> {
    let lines = error
        .split_once(UNMARSHAL)
        .map_or(error, |(_, lines)| lines);
    lines.lines().map(|line| line.trim().to_owned()).collect()
}
