//! Checks of literal arguments: patterns, durations and times that are not valid are errors of the expression.

use kube_cel::cel::Value;
use regex::Regex;

use super::{
    ast::{Call, Literal, Node},
    library,
    parser::SyntaxError,
};

/// Adds the error of a call whose first argument is a literal that the function cannot take.
pub(super) fn check(call: &Call, errors: &mut Vec<SyntaxError>) {
    let name = call.function.as_str();
    let Some(argument) = call.args.first() else {
        return;
    };
    let Node::Literal(Literal::String(text)) = &argument.node else {
        return;
    };
    let is_valid = match name {
        "matches" => Regex::new(text).is_ok(),
        "duration" | "timestamp" if call.target.is_none() => {
            library::call(name, None, &[Value::String(text.clone().into())]).is_ok()
        }
        _ => return,
    };
    if !is_valid {
        errors.push(SyntaxError {
            at: argument.at,
            message: format!("invalid {name} argument"),
        });
    }
}
