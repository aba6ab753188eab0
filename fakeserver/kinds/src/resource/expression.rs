//! CEL expressions that select devices.

use fakeserver_cel::Type;

use crate::expression::DeclaredVariables;

/// The variable that expressions read.
const DEVICE: &str = "device";

/// Returns the error of an expression.
pub(super) fn expression_problem(expression: &str) -> Option<String> {
    match DeclaredVariables::only(&[DEVICE]).compile(expression) {
        Ok(program) => match program.output() {
            Type::Bool | Type::Dyn => None,
            other => Some(format!(
                "must evaluate to bool or the unknown type, not {other}"
            )),
        },
        Err(problem) => Some(problem),
    }
}
