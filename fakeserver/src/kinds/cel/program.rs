//! Compiled expressions.

use std::cell::Cell;

use kube_cel::cel::Value;

use super::{
    ast::Expr,
    checker,
    environment::Environment,
    error,
    interpreter::{Failure, Interpreter, Variables},
    parser,
    types::Type,
};

/// An expression that was parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    expr: Expr,
    output: Type,
}

// === impl Program ===

impl Program {
    /// Compiles an expression. The error is in a real server's words.
    pub(crate) fn compile(source: &str, environment: &Environment) -> Result<Self, String> {
        let expr = parser::parse(source).map_err(|problem| error::syntax(source, &problem))?;
        let output =
            checker::check(&expr, environment).map_err(|found| error::print(source, &found))?;
        Ok(Self { expr, output })
    }

    /// Returns the type of the value.
    pub(crate) fn output(&self) -> &Type {
        &self.output
    }

    /// Evaluates the expression. Returns its value and the cost.
    pub(crate) fn evaluate(&self, variables: &dyn Variables) -> (Result<Value, Failure>, u64) {
        let interpreter = Interpreter {
            variables,
            cost: Cell::new(0),
        };
        let value = interpreter.evaluate(&self.expr, None);
        (value, interpreter.cost.get())
    }
}
