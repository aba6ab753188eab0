//! Errors in fault specs.

use serde_json::Error as JsonError;
use serde_path_to_error::{Error, Segment};
use thiserror::Error as ThisError;

/// An invalid [`FaultSpec`](super::FaultSpec). Its sender has to correct it.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[error("{}{problem}", self.prefix())]
pub struct SpecError {
    field: String,
    problem: String,
}

// === impl SpecError ===

impl SpecError {
    pub(super) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// Converts an error of serde in `part` of a spec; in the fault itself if `part` is empty.
    pub(super) fn within(part: &str, error: &Error<JsonError>) -> Self {
        let path = error.path().iter();
        let names = path.filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.as_str()),
            _ => None,
        });
        let names = (!part.is_empty()).then_some(part).into_iter().chain(names);
        let field: Vec<&str> = names.collect();
        Self::new(field.join("."), error.inner().to_string())
    }

    /// Puts the index of the spec among several before the field.
    pub(super) fn at(mut self, place: usize) -> Self {
        self.field = match self.field.as_str() {
            "" => format!("[{place}]"),
            field => format!("[{place}].{field}"),
        };
        self
    }

    /// Returns the invalid field as a path (`when.probability`); empty if the whole spec is invalid.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the reason.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    fn prefix(&self) -> String {
        match self.field.as_str() {
            "" => String::new(),
            field => format!("{field}: "),
        }
    }
}
