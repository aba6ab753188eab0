//! CEL expressions that select devices.

use kube_cel::{
    KubeCelExt,
    cel::{Context, Program, objects::ValueType},
};

use crate::kinds::expression::Declared;

/// The variable that expressions read.
const DEVICE: &str = "device";

/// Returns what is wrong with an expression.
pub(super) fn expression_problem(expression: &str) -> Option<String> {
    match Declared::only(&[DEVICE]).compile(expression) {
        Ok(program) => type_problem(&program),
        Err(problem) => Some(problem),
    }
}

/// Returns the problem of an expression that reads nothing and is no bool.
fn type_problem(program: &Program) -> Option<String> {
    let context = Context::default().with_all();
    let references = program.references();
    if !references.variables().is_empty() {
        return None;
    }
    let name = match program.execute(&context).ok()?.type_of() {
        ValueType::Int => "int",
        ValueType::UInt => "uint",
        ValueType::Float => "double",
        ValueType::String => "string",
        ValueType::Bytes => "bytes",
        ValueType::Null => "null_type",
        _ => return None,
    };
    Some(format!(
        "must evaluate to bool or the unknown type, not {name}"
    ))
}
