//! The CEL rules of a schema, compiled out: a schema that has any is refused.

use serde_json::Value;

use super::validation::correlation::Correlation;
use crate::{kinds::Verdict, value::status::FieldError};

/// The reason why a rule is rejected.
const UNKNOWN: &str = "compilation failed: this server is built without the feature `cel`";

/// The rules of one schema: none.
#[derive(Debug)]
pub(super) struct Rules;

/// A rule that was not compiled.
#[derive(Debug, Default)]
pub(super) struct CheckedRule {
    pub(super) error: Option<String>,
    pub(super) cost: u64,
    pub(super) cardinality_max: u64,
    pub(super) message_error: Option<String>,
    pub(super) message_cost: Option<u64>,
    pub(super) uses_old_self: bool,
}

/// Refuses each rule of a schema.
#[expect(clippy::unnecessary_wraps, reason = "its twin cannot read all schemas")]
pub(super) fn check(schema: &Value, _is_object: bool) -> Option<Vec<CheckedRule>> {
    let rules = schema["x-kubernetes-validations"].as_array();
    let refused = |_| CheckedRule {
        error: Some(UNKNOWN.to_owned()),
        uses_old_self: true,
        ..CheckedRule::default()
    };
    Some(rules.into_iter().flatten().map(refused).collect())
}

// === impl Rules ===

impl Rules {
    /// Returns the rules of a schema that was accepted.
    pub(super) fn compile(_schema: &Value, _is_object: bool) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "its twin has rules")]
    pub(super) fn is_empty(&self) -> bool {
        true
    }

    /// Returns an empty verdict: there is no rule that an object could break.
    #[expect(clippy::unused_self, reason = "its twin has rules")]
    pub(super) fn verdict(
        &self,
        _object: &Value,
        _old: Option<&Value>,
        _correlation: Option<Correlation<'_>>,
    ) -> Verdict {
        Verdict::default()
    }

    /// Returns no errors, as [`Rules::verdict`].
    #[expect(clippy::unused_self, reason = "its twin has rules")]
    pub(super) fn errors_at(
        &self,
        _value: &Value,
        _old: Option<&Value>,
        _path: &str,
    ) -> Vec<FieldError> {
        Vec::new()
    }
}
