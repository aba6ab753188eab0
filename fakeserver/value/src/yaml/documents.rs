//! The documents of a text, such as a file of manifests.

use serde_json::Value;

use super::parse;

/// The beginning of an error that names a line.
const AT_LINE: &str = "yaml: line ";

/// A document of a text that has several.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlDocument {
    /// The line of the text at which it begins, counted from 1.
    pub line: u64,
    pub value: Value,
}

/// Parses all documents of a text, without the empty ones.
///
/// A line `---` begins a document and a line `...` ends one, as in `kubectl apply -f`: each is read by itself, so that it
/// sees no anchor and no directive of another one.
///
/// # Errors
///
/// A document is invalid YAML, or cannot be converted to JSON. Lines in the message are those of the whole text.
pub fn documents(bytes: &[u8]) -> Result<Vec<YamlDocument>, String> {
    let mut documents = Vec::new();
    for (before, document) in split(bytes) {
        let value = parse(document).map_err(|error| shifted(&error, before))?;
        if !value.is_null() {
            let line = before + 1;
            documents.push(YamlDocument { line, value });
        }
    }
    Ok(documents)
}

/// Splits a text into documents, also the empty ones, each with the number of lines before it. The documents are the whole text,
/// one after another.
pub fn split(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut documents = Vec::new();
    let (mut start, mut first_line, mut is_head) = (0, 0, true);
    let mut at = 0;
    for (number, line) in (0..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let is_start = is_indicator(line, b"---");
        // Comments and directives before a document are part of it.
        if is_start && !is_head {
            documents.push((first_line, &bytes[start..at]));
            (start, first_line) = (at, number);
        }
        is_head = !is_start && is_head && is_of_head(line);
        at += line.len();
        if is_indicator(line, b"...") {
            documents.push((first_line, &bytes[start..at]));
            (start, first_line, is_head) = (at, number + 1, true);
        }
    }
    documents.push((first_line, &bytes[start..]));
    documents
}

/// Returns whether a line begins or ends a document.
fn is_indicator(line: &[u8], indicator: &[u8]) -> bool {
    let rest = line.strip_prefix(indicator);
    rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

/// Returns whether a line may come before the beginning of a document.
fn is_of_head(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    matches!(line.first(), None | Some(b'#' | b'%'))
}

/// Returns an error about a document as one about the text that it is a part of.
fn shifted(error: &str, before: u64) -> String {
    let place = error.strip_prefix(AT_LINE).and_then(|rest| {
        let (line, reason) = rest.split_once(": ")?;
        Some((line.parse::<u64>().ok()?, reason))
    });
    match place {
        Some((line, reason)) => format!("{AT_LINE}{}: {reason}", line + before),
        None if before > 0 && !error.starts_with(AT_LINE) => {
            let reason = error.strip_prefix("yaml: ").unwrap_or(error);
            format!("yaml: document of line {}: {reason}", before + 1)
        }
        None => error.to_owned(),
    }
}
