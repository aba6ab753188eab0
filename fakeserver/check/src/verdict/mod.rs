//! Answers of a server, as remarks about the manifest that was sent.

mod mismatch;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::{finding::Rule, position::Part, session::Answer};

/// One thing that is to be said of a manifest. Its position follows from the path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Remark {
    /// The path of the field, or an empty text.
    pub(crate) path: String,
    pub(crate) rule: Rule,
    pub(crate) part: Part,
    pub(crate) message: String,
}

/// The reasons of causes whose messages are about the object as a whole.
const NO_FIELD: [&str; 3] = ["", "<nil>", "."];

// === impl Remark ===

impl Remark {
    /// Creates a remark about the value of a field, or about the whole object if the path is empty.
    pub(crate) fn new(rule: Rule, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            rule,
            part: Part::Value,
            message: message.into(),
        }
    }

    fn about_key(self) -> Self {
        Self {
            part: Part::Key,
            ..self
        }
    }
}

/// Returns the remarks of an answer to a write of `object`.
pub(crate) fn remarks(answer: &Answer, object: &Value) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = answer
        .warnings
        .iter()
        .filter_map(|text| warning(text))
        .collect();
    if !answer.is_success() {
        rejection(&answer.object(), object, &mut remarks);
    }
    remarks
}

/// Returns the remark of a warning; none of one that is about this server.
fn warning(text: &str) -> Option<Remark> {
    for (beginning, rule, message) in [
        (
            "unknown field ",
            Rule::UnknownField,
            "the kind has no such field",
        ),
        (
            "duplicate field ",
            Rule::DuplicateField,
            "the field is there twice",
        ),
    ] {
        let path = text.strip_prefix(beginning);
        if let Some(path) = path.and_then(|path| path.strip_prefix('"')?.strip_suffix('"')) {
            return Some(Remark::new(rule, path, message).about_key());
        }
    }
    // What has no effect here has one in a cluster.
    if text.starts_with("fakeserver: ") {
        return None;
    }
    if text.contains(" is deprecated in v") {
        return Some(Remark::new(Rule::DeprecatedApi, "apiVersion", text));
    }
    let (path, message) = match text.split_once(": ") {
        Some((path, message)) if is_path(path) => (path, message),
        _ => ("", text),
    };
    Some(Remark::new(Rule::ServerWarning, path, message))
}

/// Returns whether a text is the path of a field.
fn is_path(text: &str) -> bool {
    let root = text.split(['.', '[']).next().unwrap_or_default();
    ["metadata", "spec", "data", "status", "webhooks", "rules"].contains(&root)
        && !text.contains(char::is_whitespace)
}

/// Adds the remarks of a status.
fn rejection(status: &Value, object: &Value, remarks: &mut Vec<Remark>) {
    let message = status["message"]
        .as_str()
        .unwrap_or("the server gave no reason");
    let causes = status["details"]["causes"].as_array();
    let causes = causes.map(Vec::as_slice).unwrap_or_default();
    let is_invalid = status["reason"] == "Invalid";
    if is_not_called(message) {
        let note = format!("not checked further: {message}");
        remarks.push(Remark::new(Rule::NotCalled, "", note));
    } else if let Some(denial) = denial(message) {
        remarks.push(Remark::new(Rule::PolicyDenied, "", denial));
    } else if is_invalid && !causes.is_empty() {
        let each = causes.iter().map(|cause| {
            let text = |name: &str| cause[name].as_str().unwrap_or_default();
            let field = text("field");
            let path = if NO_FIELD.contains(&field) { "" } else { field };
            Remark::new(Rule::InvalidField, path, text("message"))
        });
        remarks.extend(each);
    } else if status["reason"] == "Forbidden" {
        let path = forbidden_field(message);
        remarks.push(Remark::new(Rule::AdmissionDenied, path, message));
    } else if let Some((_, why)) = message.split_once(" cannot be handled as a ") {
        let why = why.split_once(": ").map_or(why, |(_, why)| why);
        let path = mismatch::path(why, object).unwrap_or_default();
        remarks.push(Remark::new(Rule::WrongType, path, why));
    } else {
        let path = mismatch::path(message, object).unwrap_or_default();
        remarks.push(Remark::new(Rule::Rejected, path, message));
    }
}

/// Returns whether a server failed because it could not call another one.
fn is_not_called(message: &str) -> bool {
    message.contains("failed calling webhook") || message.contains("conversion webhook for ")
}

/// Returns the words of an admission policy that denies an object.
fn denial(message: &str) -> Option<&str> {
    let start = ["ValidatingAdmissionPolicy '", "policy '"]
        .iter()
        .find_map(|beginning| message.find(beginning))?;
    message
        .contains(" denied request")
        .then(|| &message[start..])
}

/// Returns the field that the message of an admission plugin names after the object, if it names one.
fn forbidden_field(message: &str) -> &str {
    let after = message.split_once(" is forbidden: ");
    let field = after.and_then(|(_, why)| Some(why.split_once(": ")?.0));
    field.filter(|field| is_path(field)).unwrap_or_default()
}
