//! Match conditions of webhooks and policies: CEL expressions over a request.

use std::fmt;

use fakeserver_cel::{KnownVariables, Program, Value as CelValue, Variables, from_json};
use fakeserver_value::read::text;
use serde_json::Value;

use crate::expression::DeclaredVariables;

/// The maximum cost of all conditions of a webhook or policy for one request.
const BUDGET: u64 = 2_500_000;

/// The error of expressions that cost more than their budget.
pub const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The match conditions of a webhook or policy, compiled.
#[derive(Default)]
pub struct Conditions {
    all: Vec<Condition>,
}

struct Condition {
    expression: String,
    program: Result<Program, String>,
}

/// The verdict of match conditions on a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// All hold.
    Yes,
    /// A condition is false.
    No,
    /// No condition is false, but some could not be evaluated.
    Unknown(String),
}

// === impl Conditions ===

impl Conditions {
    /// Compiles the conditions of a webhook.
    pub fn compile(conditions: &Value) -> Self {
        Self::compile_with(conditions, &DeclaredVariables::new(false))
    }

    /// Compiles conditions that may name the declared variables.
    pub fn compile_with(conditions: &Value, declared: &DeclaredVariables) -> Self {
        let all = conditions.as_array().into_iter().flatten();
        let all = all.map(|condition| {
            let expression = text(&condition["expression"]);
            Condition {
                expression: expression.to_owned(),
                program: declared.compile_to(expression, &["bool"]),
            }
        });
        Self { all: all.collect() }
    }

    /// Evaluates the conditions for the variables of a write: `object`, `oldObject` and `request`.
    pub fn judge(&self, variables: &[(&'static str, &Value)]) -> Match {
        if self.all.is_empty() {
            return Match::Yes;
        }
        let values = variables
            .iter()
            .map(|(name, value)| (*name, from_json(value)));
        self.judge_with(&KnownVariables(values.collect()))
    }

    /// Evaluates the conditions.
    pub fn judge_with(&self, variables: &dyn Variables) -> Match {
        let mut problems = Vec::new();
        let mut spent = 0;
        for condition in &self.all {
            let program = match &condition.program {
                Ok(program) => program,
                Err(why) => {
                    problems.push(format!("compilation error: {why}"));
                    continue;
                }
            };
            let (value, cost) = program.evaluate(variables);
            spent += cost;
            if spent > BUDGET {
                return Match::Unknown(OUT_OF_BUDGET.to_owned());
            }
            match value {
                Ok(CelValue::Bool(false)) => return Match::No,
                Ok(_) => {}
                Err(failure) => problems.push(condition.problem(failure.message())),
            }
        }
        match problems.as_slice() {
            [] => Match::Yes,
            [one] => Match::Unknown(one.clone()),
            many => Match::Unknown(format!("[{}]", many.join(", "))),
        }
    }
}

impl fmt::Debug for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expressions = self.all.iter().map(|condition| &condition.expression);
        f.debug_list().entries(expressions).finish()
    }
}

// === impl Condition ===

impl Condition {
    fn problem(&self, why: &str) -> String {
        format!("expression '{}' resulted in error: {why}", self.expression)
    }
}
