//! Compiled expressions about the value of a schema.

use std::{fmt, sync::Arc};

use kube_cel::cel::Value;
use serde_json::Value as Json;

use super::{
    ast::Expr,
    check::{CheckError, Checked, check},
    cost::cost_max,
    evaluate::{Failure, Library, evaluate},
    parser::parse,
    schema_type::SchemaType,
    types::Type,
    values::{from_json, optional},
};
use crate::kinds::cel::{print_error, syntax_problem};

/// The type of the values of a schema, as expressions see them.
#[derive(Clone)]
pub(crate) struct ObjectType(Arc<SchemaType>);

/// A variable of an expression, of the type of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// A value that is there.
    Always(&'static str),
    /// A value that may be absent.
    Optional(&'static str),
}

/// An expression that was compiled.
pub(crate) struct Program {
    expr: Expr,
    checked: Checked,
    root: ObjectType,
}

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Evaluated {
    Bool(bool),
    Text(String),
    /// A value of another type.
    Other,
    /// An error, in Go's words.
    Failed(String),
    CostLimit,
}

/// The functions that expressions call.
pub(crate) struct Evaluator(Library);

/// Compiles an expression about values of the type `root`.
///
/// # Errors
///
/// The syntax, a name, a field or a type is wrong; the error is in a real server's words.
pub(crate) fn compile(
    text: &str,
    root: &ObjectType,
    variables: &[Variable],
) -> Result<Program, String> {
    if let Some(problem) = syntax_problem(text) {
        return Err(problem);
    }
    let ty = root.0.expression_type();
    let variables = variables.iter().map(|variable| match variable {
        Variable::Always(name) => ((*name).to_owned(), ty.clone()),
        Variable::Optional(name) => ((*name).to_owned(), Type::optional(ty.clone())),
    });
    let parsed = parse(text).map_err(|error| {
        vec![CheckError {
            at: error.at,
            message: error.message,
        }]
    });
    let checked = parsed.and_then(|expr| {
        let checked = check(&expr, variables.collect())?;
        Ok(Program {
            expr,
            checked,
            root: root.clone(),
        })
    });
    checked.map_err(|errors| {
        let errors = errors.iter().map(|error| show(text, error));
        errors.collect::<Vec<_>>().join("\n")
    })
}

/// Prints an error with the line at which it points.
fn show(text: &str, error: &CheckError) -> String {
    let before: String = text.chars().take(error.at).collect();
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    print_error(text, (line, column), &error.message)
}

// === impl ObjectType ===

impl ObjectType {
    /// Returns the type of the values of `schema`; `None` if expressions cannot see them. That of a whole object has a
    /// type and metadata, too.
    pub(crate) fn of(schema: &Json, is_object: bool) -> Option<Self> {
        SchemaType::of(schema, is_object).map(Self)
    }

    /// Returns the maximum number of such values in one request.
    pub(crate) fn cardinality_max(&self) -> u64 {
        self.0.cardinality_max()
    }
}

// === impl Program ===

impl Program {
    /// Tells whether its value is true or false.
    pub(crate) fn is_bool(&self) -> bool {
        matches!(self.checked.type_of(&self.expr), Type::Bool)
    }

    /// Tells whether its value is a text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.checked.type_of(&self.expr), Type::Text)
    }

    /// Tells whether it names a variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.checked.variables.contains(variable)
    }

    /// Returns the maximum cost of an evaluation.
    pub(crate) fn cost_max(&self) -> u64 {
        cost_max(&self.expr, &self.checked, &self.root.0)
    }

    /// Evaluates it with these values of its variables, and returns the cost besides.
    pub(crate) fn evaluate(
        &self,
        evaluator: &Evaluator,
        values: &[(Variable, Option<&Json>)],
    ) -> (Evaluated, u64) {
        let library = &evaluator.0;
        let of = |json: &Json| from_json(json, Some(&self.root.0), library);
        let values = values.iter().filter_map(|(variable, json)| match variable {
            Variable::Always(name) => Some(((*name).to_owned(), of((*json)?))),
            Variable::Optional(name) => Some(((*name).to_owned(), optional(json.map(of)))),
        });
        let (outcome, cost) = evaluate(&self.expr, &self.checked, values.collect(), library);
        let evaluated = match outcome {
            Ok(Value::Bool(value)) => Evaluated::Bool(value),
            Ok(Value::String(text)) => Evaluated::Text(text.to_string()),
            Ok(_) => Evaluated::Other,
            Err(Failure::Error(why)) => Evaluated::Failed(why),
            Err(Failure::CostLimit) => Evaluated::CostLimit,
        };
        (evaluated, cost)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

// === impl Evaluator ===

impl Evaluator {
    pub(crate) fn new() -> Self {
        Self(Library::new())
    }
}
