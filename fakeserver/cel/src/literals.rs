//! Checks of literals: patterns, durations, times and formats that are not valid, and lists and maps of several types.

use super::{
    ast::{Expr, ExprKind, Literal},
    checker::Notes,
    constants::of_literal,
    format, library,
    parser::{ExpressionError, deep},
    types::{CheckerType, Type},
};
use fakeserver_value::pattern::compile;

/// Returns the errors of the literals in an expression.
pub(super) fn errors(expr: &Expr, notes: &Notes) -> Vec<ExpressionError> {
    let mut errors = Vec::new();
    expr.walk(&mut |expr| {
        errors.extend(argument_problem(expr));
        errors.extend(format::problem(expr, notes));
    });
    check_same(expr, notes, &mut errors);
    errors
}

fn argument_problem(expr: &Expr) -> Option<ExpressionError> {
    let ExprKind::Call {
        function,
        arguments,
        ..
    } = &expr.kind
    else {
        return None;
    };
    let argument = arguments.first()?;
    let ExprKind::Literal(literal) = &argument.kind else {
        return None;
    };
    let is_valid = match (function.as_str(), literal) {
        ("matches", Literal::String(pattern)) => compile(pattern).is_ok(),
        ("duration" | "timestamp", literal) => {
            library::call(function, false, &[of_literal(literal)]).is_ok()
        }
        _ => return None,
    };
    let message = format!("invalid {function} argument");
    (!is_valid).then(|| ExpressionError::new(argument.at, message))
}

/// Checks that the elements of literal lists and maps have one type, but within calls of `format`.
fn check_same(expr: &Expr, notes: &Notes, errors: &mut Vec<ExpressionError>) {
    let of = |value: &Expr, is_optional: bool| {
        let of = notes.type_of(value);
        if is_optional {
            of.unwrapped().0
        } else {
            of.clone()
        }
    };
    match &expr.kind {
        ExprKind::Call { function, .. } if function == "format" => return,
        ExprKind::List(elements) => {
            let types = elements.iter().map(|element| {
                let value = &element.value;
                (value.at, of(value, element.is_optional))
            });
            errors.extend(differing(types).take(1));
        }
        ExprKind::Map(entries) => {
            let keys = entries
                .iter()
                .map(|entry| (entry.key.at, of(&entry.key, false)));
            errors.extend(differing(keys));
            let values = entries.iter().map(|entry| {
                let value = &entry.value;
                (value.at, of(value, entry.is_optional))
            });
            errors.extend(differing(values));
        }
        _ => {}
    }
    for part in expr.parts() {
        deep(|| check_same(part, notes, errors));
    }
}

/// Returns the errors of types that are not the first one.
fn differing(
    mut types: impl Iterator<Item = (usize, Type)>,
) -> impl Iterator<Item = ExpressionError> {
    let first = types.next().map(|(_, first)| first);
    types.filter_map(move |(at, other)| {
        let first = first.as_ref().filter(|first| **first != other)?;
        let (first, other) = (CheckerType(first), CheckerType(&other));
        let message = format!("expected type '{first}' but found '{other}'");
        Some(ExpressionError::new(at, message))
    })
}
