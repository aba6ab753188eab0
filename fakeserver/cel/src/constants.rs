//! Constant folding: literals of constants, and conversions of constants, are evaluated once.

use super::{
    ast::{Expr, ExprKind, Literal, operators},
    checker::Notes,
    library,
    parser::deep,
    value::{Value, as_key, as_list, list, map, string},
};
use fakeserver_value::pattern::compile;

/// Notes the constants in an expression.
///
/// # Errors
///
/// A conversion fails, or a pattern is not valid.
pub(super) fn fold(expr: &Expr, notes: &mut Notes) -> Result<(), String> {
    for part in expr.parts() {
        deep(|| fold(part, notes))?;
    }
    if notes.of(expr).constant.is_none()
        && let Some(constant) = constant(expr, notes)?
    {
        notes.of_mut(expr).constant = Some(constant);
    }
    Ok(())
}

fn constant(expr: &Expr, notes: &Notes) -> Result<Option<Value>, String> {
    let of = |expr: &Expr| notes.of(expr).constant.clone();
    Ok(match &expr.kind {
        ExprKind::Literal(literal) => Some(of_literal(literal)),
        ExprKind::List(elements) => {
            let is_plain = elements.iter().all(|element| !element.is_optional);
            let items = elements.iter().map(|element| of(&element.value));
            let items: Option<Vec<Value>> = items.collect();
            items.filter(|_| is_plain).map(list)
        }
        ExprKind::Map(entries) => {
            let is_plain = entries.iter().all(|entry| !entry.is_optional);
            let made = entries.iter().map(|entry| {
                let key = as_key(&of(&entry.key)?)?;
                Some((key, of(&entry.value)?))
            });
            let made: Option<Vec<_>> = made.collect();
            made.filter(|_| is_plain).map(map)
        }
        ExprKind::Call {
            function,
            target,
            arguments,
        } if matches!(function.as_str(), "matches" | "find" | "findAll") => {
            let pattern = arguments.get(usize::from(target.is_none()));
            if let Some(Value::String(pattern)) = pattern.and_then(of) {
                compile(&pattern)?;
            }
            None
        }
        ExprKind::Call {
            function,
            target: None,
            arguments,
        } => match (function.as_str(), arguments.as_slice()) {
            (function, [argument]) if library::is_conversion(function) => match of(argument) {
                None => None,
                Some(value) => {
                    let converted = library::call(function, false, &[value]);
                    Some(converted.map_err(|failure| failure.message().to_owned())?)
                }
            },
            (operators::IN, [_, container]) if notes.overload(expr) == "in_list" => {
                let container = of(container);
                let items = container.as_ref().and_then(as_list);
                items
                    .is_some_and(|items| items.is_empty())
                    .then_some(Value::Bool(false))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns the value of a literal.
pub(super) fn of_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::UInt(*number),
        Literal::Double(number) => Value::Float(*number),
        Literal::String(text) => string(text),
        Literal::Bytes(bytes) => Value::Bytes(bytes.clone().into()),
    }
}

/// Returns the items of a constant list if the operator `in` finds its operand among them at once, which is free.
pub(super) fn members(constant: &Value) -> Option<&[Value]> {
    let items = as_list(constant)?;
    let is_simple = |item: &Value| {
        matches!(
            item,
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::String(_)
        )
    };
    items.iter().all(is_simple).then_some(items.as_slice())
}
