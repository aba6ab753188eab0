//! Expressions of admission, in a server without the feature `cel`: none is accepted.

use serde_json::json;

use crate::value::status::FieldError;

/// The variables that an expression may name.
#[derive(Clone, Debug)]
pub(crate) struct Declared;

// === impl Declared ===

impl Declared {
    /// Declares nothing.
    pub(crate) fn new(_has_params: bool) -> Self {
        Self
    }

    /// Declares nothing.
    pub(crate) fn with_variables(self) -> Self {
        self
    }

    /// Declares nothing.
    pub(crate) fn with_patches(self) -> Self {
        self
    }

    /// Declares nothing.
    pub(crate) fn without_authorizer(self) -> Self {
        self
    }

    /// Refuses every expression.
    pub(crate) fn variable_error(
        &mut self,
        _name: &str,
        path: &str,
        expression: &str,
    ) -> Option<FieldError> {
        self.error(path, expression, expression, &[])
    }

    /// Refuses every expression.
    pub(crate) fn error(
        &self,
        path: &str,
        shown: &str,
        _expression: &str,
        _types: &[&str],
    ) -> Option<FieldError> {
        let why = "compilation failed: this server is built without the feature `cel`";
        Some(FieldError::invalid(path, &json!(shown), why))
    }
}
