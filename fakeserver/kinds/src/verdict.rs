//! The outcome of a validation.

use fakeserver_value::status::FieldError;

/// The findings of a validation, and its warnings.
#[derive(Debug, Default)]
pub struct Verdict {
    pub errors: Vec<FieldError>,
    /// Errors of values that were so before, of which a client is warned.
    pub warnings: Vec<FieldError>,
}

// === impl Verdict ===

impl Verdict {
    /// Returns a verdict without warnings.
    pub fn refused(errors: Vec<FieldError>) -> Self {
        let warnings = Vec::new();
        Self { errors, warnings }
    }
}
