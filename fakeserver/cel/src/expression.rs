//! Expressions over JSON values, for users of the crate.

use std::collections::BTreeMap;

use thiserror::Error;

use super::{
    environment::Environment,
    interpreter::{Failure, Variables},
    library::convert_text,
    program::Program,
    types::Type,
    value::{Value, from_json, to_json},
};

/// An expression of CEL over JSON values, with the functions, the limits and the error messages of a Kubernetes API server.
///
/// # Examples
///
/// ```
/// # use fakeserver_cel as fakeserver;
/// use std::collections::BTreeMap;
///
/// use fakeserver::{CelExpression, CelInput};
///
/// let ready = CelExpression::compile("pods.exists(p, p.?status.?phase.orValue('') == 'Running')", &["pods"])?;
/// let pods = serde_json::json!([{"metadata": {"name": "a"}, "status": {"phase": "Running"}}, {"metadata": {"name": "b"}}]);
/// let inputs = BTreeMap::from([("pods", CelInput::Json(pods))]);
/// assert_eq!(ready.evaluate(&inputs)?, serde_json::json!(true));
/// # Ok::<(), fakeserver::CelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CelExpression {
    program: Program,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CelInput {
    /// A value of any type.
    Json(serde_json::Value),
    /// A timestamp, in the form of RFC 3339.
    Timestamp(String),
}

/// The failure of an expression. A retry does not help: the text, or a value that it is evaluated on, has to change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CelError {
    /// The expression does not compile. The reasons are in an API server's words.
    #[error("{0}")]
    Compile(String),
    /// The evaluation has failed. The reason is in an API server's words.
    #[error("{0}")]
    Evaluate(String),
}

/// Variables whose values are converted when they are read.
struct Inputs<'a>(&'a BTreeMap<&'a str, CelInput>);

// === impl CelExpression ===

impl CelExpression {
    /// Compiles an expression that may name `variables`, which are of any type.
    ///
    /// # Errors
    ///
    /// The syntax is wrong, a name is unknown, or types do not fit each other.
    pub fn compile(source: &str, variables: &[&str]) -> Result<Self, CelError> {
        let mut environment = Environment::default();
        for name in variables {
            environment.declare(name, Type::Dyn);
        }
        let program = Program::compile(source, &environment);
        let program = program.map_err(|error| CelError::Compile(error.to_string()))?;
        Ok(Self { program })
    }

    /// Returns whether the expression names a variable. Callers need not supply other variables.
    pub fn uses(&self, variable: &str) -> bool {
        self.program.uses(variable)
    }

    /// Returns whether its value may be true or false, as far as its type is known.
    pub fn may_be_bool(&self) -> bool {
        matches!(
            self.program.output(),
            Type::Bool | Type::Dyn | Type::Variable(_)
        )
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    ///
    /// A variable is not given, a field is missing, types do not fit, the value has no form in JSON, or the evaluation costs
    /// more than an API server allows.
    pub fn evaluate(
        &self,
        variables: &BTreeMap<&str, CelInput>,
    ) -> Result<serde_json::Value, CelError> {
        let (value, _) = self.program.evaluate(&Inputs(variables));
        let value = value.map_err(|failure| CelError::Evaluate(failure.message().to_owned()))?;
        to_json(&value).map_err(CelError::Evaluate)
    }
}

// === impl Inputs ===

impl Variables for Inputs<'_> {
    fn get(&self, name: &str) -> Option<Result<Value, Failure>> {
        Some(match self.0.get(name)? {
            CelInput::Json(value) => Ok(from_json(value)),
            CelInput::Timestamp(text) => convert_text("timestamp", text)
                .ok_or_else(|| Failure::Error(format!("{name} is no time: {text:?}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn evaluated(source: &str) -> Result<serde_json::Value, CelError> {
        let inputs = BTreeMap::from([
            ("object", CelInput::Json(json!({"spec": {"replicas": 3}}))),
            (
                "now",
                CelInput::Timestamp("2026-01-01T00:00:00Z".to_owned()),
            ),
        ]);
        CelExpression::compile(source, &["object", "now", "other"])?.evaluate(&inputs)
    }

    #[test]
    fn values_are_of_json_and_times_are_times() {
        assert_eq!(evaluated("object.spec.replicas == 3"), Ok(json!(true)));
        assert_eq!(evaluated("object.?status.orValue(1)"), Ok(json!(1)));
        let later = "now > timestamp('2025-12-31T00:00:00Z')";
        assert_eq!(evaluated(later), Ok(json!(true)));
    }

    #[test]
    fn errors_distinguish_compilation_from_evaluation() {
        let compile = evaluated("object.spec +").unwrap_err();
        assert!(matches!(compile, CelError::Compile(_)), "{compile}");
        let unknown = evaluated("unknown").unwrap_err();
        assert!(
            unknown
                .to_string()
                .contains("undeclared reference to 'unknown'")
        );
        assert_eq!(
            evaluated("object.status.phase"),
            Err(CelError::Evaluate("no such key: status".to_owned()))
        );
        assert!(matches!(evaluated("other"), Err(CelError::Evaluate(_))));
    }

    #[test]
    fn variables_that_are_not_named_are_not_needed() {
        let expression = CelExpression::compile("1 + 1", &["object"]).unwrap();
        assert!(!expression.uses("object"));
        assert_eq!(expression.evaluate(&BTreeMap::new()), Ok(json!(2)));
    }
}
