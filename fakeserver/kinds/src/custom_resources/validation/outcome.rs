//! The outcome of a validation of a value by a schema.

use fakeserver_value::{go_text::quote, status::FieldError};
use fakeserver_versions::KubernetesVersion;
use indexmap::IndexMap;

/// The errors of a value, and the number of checks that it passed.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// By the texts by which duplicates are found, in the order in which they were found.
    errors: IndexMap<String, FieldError>,
    /// Tells which of several alternatives a value is nearest to.
    pub(super) matches: usize,
}

// === impl Outcome ===

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Adds the errors and matches of another outcome.
    pub(super) fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        if self.errors.is_empty() {
            self.errors = other.errors;
            return;
        }
        for (text, error) in other.errors {
            self.add(text, error);
        }
    }

    /// Removes the errors.
    pub(super) fn forgive(&mut self) {
        self.errors.clear();
    }

    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.errors.into_values().collect()
    }

    /// Adds an error unless one with the same `text` is there already.
    pub(super) fn add(&mut self, text: String, error: FieldError) {
        self.errors.entry(text).or_insert(error);
    }
}

/// The location of a value: the name that messages have, and the path at which the validation began.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueLocation<'p> {
    /// The version of Kubernetes whose rules count.
    pub(super) kubernetes: KubernetesVersion,
    /// The path of the whole value; empty for an object, as a finding at the whole object then has no field.
    pub(super) base: &'p str,
    /// The path within the whole value.
    pub(super) name: &'p str,
}

// === impl ValueLocation ===

impl ValueLocation<'_> {
    /// Returns the path that a finding names.
    pub(super) fn field(&self) -> String {
        let name = self.name.strip_prefix('.').unwrap_or(self.name);
        match (self.base, name) {
            ("", "") => "<nil>".to_owned(),
            ("", name) => name.to_owned(),
            (base, "") => base.to_owned(),
            (base, name) => format!("{base}.{name}"),
        }
    }

    /// Adds that the value is invalid; `what` follows the name.
    pub(super) fn refuse(&self, value: &str, what: &str, outcome: &mut Outcome) {
        let message = format!("{} in body {what}", self.name);
        let error = FieldError::invalid_printed(self.field(), value, &message);
        outcome.add(message, error);
    }

    /// Adds an error of the whole value, which names no field.
    pub(super) fn refuse_whole(&self, message: String, outcome: &mut Outcome) {
        let field = if self.base.is_empty() {
            "<nil>"
        } else {
            self.base
        };
        let error = FieldError::invalid_printed(field, "\"\"", &message);
        outcome.add(message, error);
    }

    /// Adds that a value is not of a type; `found` is the type that it has, or the value that is not of a format.
    pub(super) fn refuse_type(&self, wanted: &str, found: &str, outcome: &mut Outcome) {
        let found = quote(found);
        let message = format!("{} in body must be of type {wanted}: {found}", self.name);
        let mut error = FieldError::invalid_printed(self.field(), &found, &message);
        error.reason = "FieldValueTypeInvalid";
        outcome.add(message, error);
    }

    /// Adds that a value is not among the allowed ones.
    pub(super) fn refuse_choice(
        &self,
        value: &serde_json::Value,
        allowed: &[serde_json::Value],
        outcome: &mut Outcome,
    ) {
        let texts: Vec<String> = allowed
            .iter()
            .map(|value| match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        let supported: Vec<&str> = texts.iter().map(String::as_str).collect();
        let text = format!("{} in body should be one of {texts:?}", self.name);
        let error = FieldError::not_supported(self.field(), value, &supported);
        outcome.add(text, error);
    }
}
