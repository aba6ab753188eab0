//! The CEL rules of a schema, compiled out: a schema that has any is refused.

use serde_json::Value;

use crate::value::status::FieldError;

/// The reason why a rule is rejected.
const UNKNOWN: &str = "this server is built without the feature `cel`";

/// The rules of one schema: none.
#[derive(Debug)]
pub(super) struct Rules;

// === impl Rules ===

impl Rules {
    /// Returns the rules of a schema that was accepted.
    pub(super) fn compile(_schema: &Value) -> Self {
        Self
    }

    /// Returns no errors: there is no rule that an object could break.
    pub(super) fn errors(
        &self,
        _schema: &Value,
        _object: &Value,
        _old: Option<&Value>,
    ) -> Vec<FieldError> {
        Vec::new()
    }
}

/// Refuses each rule of `schema`, with the path of the schema that has it.
pub(super) fn compilation_errors(schema: &Value, path: &str) -> Vec<(String, String)> {
    let rules = schema["x-kubernetes-validations"].as_array();
    let error = |index| {
        let field = format!("{path}.x-kubernetes-validations[{index}].rule");
        (field, UNKNOWN.to_owned())
    };
    (0..rules.map_or(0, Vec::len)).map(error).collect()
}
