//! The outcome of a validation.

use fakeserver_value::status::FieldError;

/// The findings of a validation, and its warnings.
#[derive(Debug, Default)]
pub struct Verdict {
    pub errors: Vec<FieldError>,
    pub warnings: Vec<String>,
}

// === impl Verdict ===

impl Verdict {
    /// Returns a verdict without warnings.
    pub fn refused(errors: Vec<FieldError>) -> Self {
        let warnings = Vec::new();
        Self { errors, warnings }
    }
}
