//! Expressions of admission, in a server without the feature `cel`: none is accepted.

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
    pub(crate) fn variable_problem(&mut self, _name: &str, expression: &str) -> Option<String> {
        self.problem(expression, &[])
    }

    /// Refuses every expression.
    pub(crate) fn problem(&self, _expression: &str, _types: &[&str]) -> Option<String> {
        Some("compilation failed: this server is built without the feature `cel`".to_owned())
    }
}
