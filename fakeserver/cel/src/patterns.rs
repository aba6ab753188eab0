//! Functions of regular expressions.

use super::{
    interpreter::{EvaluationResult, Failure},
    operations::no_overload,
    value::{Value, list, string},
};
use fakeserver_value::pattern::compile;

/// Calls a function of patterns, if `name` is one for such operands.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    let (text, pattern, rest) = match operands {
        [Value::String(text), Value::String(pattern), rest @ ..] => (text, pattern, rest),
        _ if name == "matches" => return Some(Err(no_overload())),
        _ => return None,
    };
    let count = match (name, rest) {
        ("matches" | "find" | "findAll", []) => usize::MAX,
        // A number below zero stands for all.
        ("findAll", [Value::Int(count)]) => usize::try_from(*count).unwrap_or(usize::MAX),
        _ => return None,
    };
    let compiled = match compile(pattern) {
        Ok(compiled) => compiled,
        Err(why) if name == "matches" => return Some(Err(Failure::Error(why))),
        Err(why) => return Some(Err(Failure::error(format!("Illegal regex: {why}")))),
    };
    let mut found = compiled.find_iter(text).map(|found| string(found.as_str()));
    Some(Ok(match name {
        "matches" => Value::Bool(found.next().is_some()),
        "find" => found.next().unwrap_or_else(|| string("")),
        _ => list(found.take(count)),
    }))
}
