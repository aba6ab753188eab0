//! Compiled expressions.

use std::{cell::Cell, fmt};

use super::{
    ast::Expr,
    checker::{Notes, check},
    constants,
    cost::{Sizes, cost_max},
    environment::Environment,
    error,
    interpreter::{Failure, Interpreter, Variables},
    parser::{ExpressionError, parse},
    types::Type,
    value::Value,
};

/// An expression that was parsed and checked.
#[derive(Clone, Debug)]
pub struct Program {
    expr: Expr,
    notes: Notes,
}

/// The reason for which an expression cannot be compiled, in a real server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// Errors of syntax, names and types, with their positions.
    Check(String),
    /// A constant part has no value.
    Constant(String),
}

/// The number of characters that an expression may have.
const CHARACTERS_MAX: usize = 100_000;

/// Refuses an expression that is too long to be read.
fn check_size(source: &str) -> Result<(), CompileError> {
    let size = source.chars().count();
    if size <= CHARACTERS_MAX {
        return Ok(());
    }
    let why =
        format!("expression code point size exceeds limit: size: {size}, limit {CHARACTERS_MAX}");
    let error = ExpressionError::of_whole(why);
    Err(CompileError::Check(error::print(source, &[error])))
}

// === impl CompileError ===

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(errors) => write!(f, "compilation failed: {errors}"),
            Self::Constant(why) => write!(f, "program instantiation failed: {why}"),
        }
    }
}

// === impl Program ===

impl Program {
    /// Compiles an expression.
    pub fn compile(source: &str, environment: &Environment) -> Result<Self, CompileError> {
        check_size(source)?;
        let parsed = parse(source).map_err(|problem| error::syntax(source, &problem));
        let (mut expr, count) = parsed.map_err(CompileError::Check)?;
        let mut notes = check(&mut expr, count, environment)
            .map_err(|errors| CompileError::Check(error::print(source, &errors)))?;
        constants::fold(&expr, &mut notes).map_err(CompileError::Constant)?;
        Ok(Self { expr, notes })
    }

    /// Returns the type of the value.
    pub fn output(&self) -> &Type {
        self.notes.type_of(&self.expr)
    }

    /// Returns whether the expression names a variable.
    pub fn uses(&self, variable: &str) -> bool {
        self.notes.variables.contains(variable)
    }

    /// Returns the maximum cost of an evaluation.
    pub fn cost_max(&self, sizes: &dyn Sizes) -> u64 {
        cost_max(&self.expr, &self.notes, sizes)
    }

    /// Evaluates the expression. Returns its value and the cost.
    pub fn evaluate(&self, variables: &dyn Variables) -> (Result<Value, Failure>, u64) {
        let interpreter = Interpreter {
            notes: &self.notes,
            variables,
            cost: Cell::new(0),
        };
        let value = interpreter.evaluate(&self.expr, None);
        (value, interpreter.cost.get())
    }
}
