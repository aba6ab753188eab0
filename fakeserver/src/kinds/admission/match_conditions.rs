//! Match conditions of webhooks: CEL expressions over a request.

use std::{fmt, sync::Arc};

use kube_cel::{
    KubeCelExt,
    cel::{
        Context, Program, Value as CelValue,
        objects::{Key, Map},
    },
};
use serde_json::Value;

/// Names that expressions cannot use as they are.
const RESERVED: [&str; 17] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
];

/// The match conditions of a webhook, compiled.
pub(crate) struct Conditions {
    all: Vec<Condition>,
}

struct Condition {
    expression: String,
    program: Result<Program, String>,
}

/// The verdict of match conditions on a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// All hold.
    Yes,
    /// One does not.
    No,
    /// None is false, but some could not be evaluated.
    Unknown(String),
}

// === impl Conditions ===

impl Conditions {
    pub(crate) fn compile(conditions: &Value) -> Self {
        let all = conditions.as_array().into_iter().flatten();
        let all = all.map(|condition| {
            let expression = condition["expression"].as_str().unwrap_or_default();
            Condition {
                expression: expression.to_owned(),
                program: compile(expression),
            }
        });
        Self { all: all.collect() }
    }

    /// Evaluates the conditions for the variables of a write: `object`, `oldObject` and `request`.
    pub(crate) fn judge(&self, variables: &[(&str, &Value)]) -> Match {
        if self.all.is_empty() {
            return Match::Yes;
        }
        let mut context = Context::default().with_all();
        for (name, value) in variables {
            context.add_variable_from_value(*name, to_cel(value));
        }
        let mut problems = Vec::new();
        for condition in &self.all {
            let outcome = condition.program.as_ref().map_err(Clone::clone);
            let outcome = outcome
                .and_then(|program| program.execute(&context).map_err(|error| error.to_string()));
            match outcome {
                Ok(CelValue::Bool(true)) => {}
                Ok(CelValue::Bool(false)) => return Match::No,
                Ok(_) => problems.push(condition.problem("not a bool")),
                Err(why) => problems.push(condition.problem(&why)),
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

fn compile(expression: &str) -> Result<Program, String> {
    Program::compile(expression).map_err(|error| error.to_string())
}

/// Converts a value; members with reserved names can also be named as `__namespace__`.
fn to_cel(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(value) => CelValue::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => CelValue::Int(number),
            (None, Some(number)) => CelValue::UInt(number),
            (None, None) => CelValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Object(members) => {
            let reserved = members
                .iter()
                .filter(|(name, _)| RESERVED.contains(&name.as_str()))
                .map(|(name, value)| (key(&format!("__{name}__")), to_cel(value)));
            let own = members
                .iter()
                .map(|(name, value)| (key(name), to_cel(value)));
            CelValue::Map(Map {
                map: Arc::new(own.chain(reserved).collect()),
            })
        }
    }
}

fn key(name: &str) -> Key {
    Key::String(Arc::new(name.to_owned()))
}
