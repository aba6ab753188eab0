//! Functions of quantities of resources.

use std::{cmp::Ordering, sync::Arc};

use super::{
    interpreter::{EvaluationResult, Failure},
    value::{Opaque, Value, downcast},
};
use fakeserver_value::schema::Quantity;

/// A quantity as a value. Those of equal amounts are equal.
#[derive(Clone, Debug, PartialEq)]
struct QuantityValue(Quantity);

impl Opaque for QuantityValue {
    fn type_name(&self) -> &'static str {
        "kubernetes.Quantity"
    }
}

/// Calls a function of quantities, if `name` is one for such operands.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    if let ("quantity" | "isQuantity", [Value::String(text)]) = (name, operands) {
        let parsed = text.parse::<Quantity>();
        return Some(match name {
            "quantity" => parsed
                .map(value)
                .map_err(|error| Failure::error(error.to_string())),
            _ => Ok(Value::Bool(parsed.is_ok())),
        });
    }
    let (first, rest) = operands.split_first()?;
    let own = &downcast::<QuantityValue>(first)?.0;
    if let [other] = rest {
        return binary(name, own, other).map(Ok);
    }
    let integer = own.as_integer().and_then(|whole| i64::try_from(whole).ok());
    Some(Ok(match (name, rest) {
        ("sign", []) => Value::Int(match (own.is_negative(), own.is_zero()) {
            (true, _) => -1,
            (_, zero) => i64::from(!zero),
        }),
        ("asApproximateFloat", []) => Value::Float(own.as_float()),
        ("isInteger", []) => Value::Bool(integer.is_some()),
        ("asInteger", []) => {
            let fails = || Failure::error("cannot convert value to integer");
            return Some(integer.map(Value::Int).ok_or_else(fails));
        }
        _ => return None,
    }))
}

fn binary(name: &str, own: &Quantity, other: &Value) -> Option<Value> {
    let other = match other {
        Value::Int(number) if matches!(name, "add" | "sub") => Quantity::from(*number),
        other => downcast::<QuantityValue>(other)?.0.clone(),
    };
    Some(match name {
        "isGreaterThan" => Value::Bool(*own > other),
        "isLessThan" => Value::Bool(*own < other),
        "compareTo" => Value::Int(sign_of(own.cmp(&other))),
        "add" | "sub" => {
            let mut sum = own.clone();
            if name == "add" {
                sum += &other;
            } else {
                sum -= &other;
            }
            value(sum)
        }
        _ => return None,
    })
}

fn value(quantity: Quantity) -> Value {
    Value::Opaque(Arc::new(QuantityValue(quantity)))
}

/// Returns an order as a number: less than zero, zero, or greater.
pub(super) fn sign_of(order: Ordering) -> i64 {
    match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}
