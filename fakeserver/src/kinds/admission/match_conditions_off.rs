//! Match conditions, compiled out: a webhook that has any is refused.

use serde_json::Value;

/// The match conditions of a webhook: none.
#[derive(Debug)]
pub(crate) struct Conditions;

/// The outcome of the match conditions for a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// All hold.
    Yes,
    /// One does not.
    #[expect(dead_code, reason = "there are no conditions")]
    No,
    /// None fails to hold, but some could not be told.
    #[expect(dead_code, reason = "there are no conditions")]
    Unknown(String),
}

// === impl Conditions ===

impl Conditions {
    /// Returns the conditions of a webhook that was accepted.
    pub(crate) fn compile(_conditions: &Value) -> Self {
        Self
    }

    /// Lets every write through.
    pub(crate) fn judge(&self, _variables: &[(&str, &Value)]) -> Match {
        Match::Yes
    }
}
