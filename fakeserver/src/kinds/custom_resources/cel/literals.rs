//! Checks of literals that a call would refuse whenever it is made, and of lists and maps of several types.

use regex::Regex;

use super::{
    ast::{Expr, ExprKind, Literal},
    check::{CheckError, Checked},
    evaluate::is_literal_of,
    types::Type,
};

/// Returns the errors of the literals within an expression.
pub(super) fn errors(expr: &Expr, checked: &Checked) -> Vec<CheckError> {
    let mut errors = Vec::new();
    expr.walk(&mut |expr| match &expr.kind {
        ExprKind::Call {
            function,
            arguments,
            ..
        } => check_argument(function, arguments, &mut errors),
        ExprKind::List(elements) => {
            let types = elements.iter().map(|element| {
                let ty = checked.type_of(&element.value);
                let ty = if element.is_optional {
                    ty.without_option().0
                } else {
                    ty.clone()
                };
                (&element.value, ty)
            });
            check_same(types, &mut errors);
        }
        ExprKind::Map(entries) => {
            let keys = entries.iter().map(|entry| &entry.key);
            check_same(
                keys.map(|key| (key, checked.type_of(key).clone())),
                &mut errors,
            );
            let values = entries.iter().map(|entry| &entry.value);
            check_same(
                values.map(|value| (value, checked.type_of(value).clone())),
                &mut errors,
            );
        }
        _ => {}
    });
    errors
}

fn check_argument(function: &str, arguments: &[Expr], errors: &mut Vec<CheckError>) {
    let Some(argument) = arguments.first() else {
        return;
    };
    let ExprKind::Literal(Literal::Text(text)) = &argument.kind else {
        return;
    };
    let is_valid = match function {
        "matches" => Regex::new(text).is_ok(),
        "duration" | "timestamp" => is_literal_of(function, text),
        _ => return,
    };
    if !is_valid {
        errors.push(CheckError {
            at: argument.at,
            message: format!("invalid {function} argument"),
        });
    }
}

fn check_same<'e>(mut all: impl Iterator<Item = (&'e Expr, Type)>, errors: &mut Vec<CheckError>) {
    let Some((_, first)) = all.next() else { return };
    if let Some((expr, other)) = all.find(|(_, other)| !first.is_same(other)) {
        errors.push(CheckError {
            at: expr.at,
            message: format!("expected type '{first}' but found '{other}'"),
        });
    }
}
