//! The estimated costs of calls.

use super::{CHECK, FORMAT_PATTERN_MAX, LIST, PATTERN, TEXT, size::Range};
use crate::types::Type;

/// The maximum length of the name of a format.
const FORMAT_MAX: u64 = 64;

/// A call with the known facts about its operands.
pub(super) struct Call<'c> {
    pub(super) function: &'c str,
    pub(super) target: Option<Operand>,
    pub(super) arguments: Vec<Operand>,
    /// The costs of the arguments.
    pub(super) costs: &'c [Range],
}

/// The known facts about an operand.
pub(super) struct Operand {
    pub(super) size: Range,
    pub(super) of: Type,
    /// True if the size is known from the expression.
    pub(super) is_computed: bool,
    /// The type and the size of the items of a list.
    pub(super) item: Option<(Type, Range)>,
    /// The literal number that it is.
    pub(super) literal: Option<i64>,
}

/// The cost of a call and the size of its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) cost: Range,
    pub(super) size: Option<Range>,
}

/// Returns the cost of a call by one of its overloads.
pub(super) fn call_cost(call: &Call<'_>, overload: &str) -> Estimate {
    let costs = call.costs.iter();
    let arguments = costs.fold(Range::ZERO, |sum, cost| sum.plus(*cost));
    let estimate = list_cost(call, overload)
        .or_else(|| library_cost(call, overload))
        .or_else(|| standard_cost(call, overload));
    // These do not evaluate all operands, so that the costs of the arguments must not be added up.
    if let "logical_and" | "logical_or" | "conditional" = overload {
        return lazy_cost(call, overload);
    }
    let estimate = estimate.unwrap_or(Estimate {
        cost: Range::ONE,
        size: None,
    });
    Estimate {
        cost: estimate.cost.plus(arguments),
        ..estimate
    }
}

/// Returns the cost of operators that do not evaluate all operands.
fn lazy_cost(call: &Call<'_>, overload: &str) -> Estimate {
    let cost = |place: usize| call.costs.get(place).copied().unwrap_or(Range::ZERO);
    if overload != "conditional" {
        let both = cost(0).plus(cost(1));
        return Estimate {
            cost: Range {
                min: cost(0).min,
                max: both.max,
            },
            size: None,
        };
    }
    let size = match &call.arguments[..] {
        [_, one, other] => Some(one.size.union(other.size)),
        _ => None,
    };
    Estimate {
        cost: cost(0).plus(cost(1).union(cost(2))),
        size,
    }
}

fn standard_cost(call: &Call<'_>, overload: &str) -> Option<Estimate> {
    let argument = |place: usize| call.arguments.get(place).map(|argument| argument.size);
    let target = call.target.as_ref().map(|target| target.size);
    let (cost, size) = match overload {
        "string_format" => (target?.by(TEXT), None),
        "string_to_bytes" => {
            let size = argument(0)?;
            // A character takes up to four bytes in UTF-8.
            let max = size.max.saturating_mul(4);
            (size.by(TEXT), Some(Range { max, ..size }))
        }
        "bytes_to_string" => {
            let size = argument(0)?;
            let min = size.min / 4;
            (size.by(TEXT), Some(Range { min, ..size }))
        }
        "strings_quote" => {
            let size = argument(0)?;
            let quoted = Range {
                min: size.min.saturating_add(2),
                max: size.max.saturating_mul(2).saturating_add(2),
            };
            (size.by(TEXT), Some(quoted))
        }
        "affix_string" => (argument(0)?.by(TEXT), None),
        "in_list" => (argument(1)?, None),
        "matches_string" => {
            // One more than the text, so that a match of an empty text is not free.
            let text = target?.plus(Range::ONE).by(TEXT);
            (text.times(argument(0)?.by(PATTERN)), None)
        }
        "contains_string" => (target?.by(TEXT).times(argument(0)?.by(TEXT)), None),
        "add_string" | "add_bytes" => {
            let size = argument(0)?.plus(argument(1)?);
            (size.by(TEXT), Some(size))
        }
        "add_list" => (Range::ONE, Some(argument(0)?.plus(argument(1)?))),
        "compare" | "equals" | "not_equals" => {
            let max = argument(0)?.max.min(argument(1)?.max);
            let min = u64::from(max > 0);
            (Range { min, max }.by(TEXT), None)
        }
        _ => return None,
    };
    Some(Estimate { cost, size })
}

/// Returns the costs of functions of the libraries of a real server.
fn library_cost(call: &Call<'_>, overload: &str) -> Option<Estimate> {
    let argument = |place: usize| call.arguments.get(place).map(|argument| argument.size);
    let target = call.target.as_ref();
    let size = target.map(|target| target.size);
    let (cost, result) = match call.function {
        "check" => (Range::fixed(CHECK), None),
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            (traversal(target?), None)
        }
        "url" | "jsonpatch.escapeKey" => (argument(0)?.by(TEXT), argument(0)),
        "lowerAscii" | "upperAscii" | "substring" | "trim" => (size?.by(TEXT), size),
        "replace" => {
            let (old, new) = (argument(0)?, argument(1)?);
            (size?.by(2.0 * TEXT), Some(replaced(size?, old, new)))
        }
        "split" => {
            let limit = call.arguments.get(1).and_then(|limit| limit.literal);
            let max = limit.map_or(size?.max, i64::cast_unsigned);
            (size?.by(2.0 * TEXT), Some(Range { min: 0, max }))
        }
        "join" => {
            let joined = joined(target?, argument(0));
            (joined.by(TEXT), Some(joined))
        }
        "find" | "findAll" => {
            let text = size?.plus(Range::ONE).by(TEXT);
            let result = Range {
                min: 0,
                max: size?.max,
            };
            (text.times(argument(0)?.by(PATTERN)), Some(result))
        }
        "ip" if overload == "cidr_ip" => (Range::ONE, None),
        "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
            (argument(0)?.by(TEXT), None)
        }
        "ip.isCanonical" => (argument(0)?.by(2.0 * TEXT), None),
        "containsIP" | "containsCIDR" => {
            let address = Range { min: 4, max: 16 };
            let mut cost = address.plus(address).by(TEXT);
            if call.function == "containsCIDR" {
                cost = cost.plus(address.by(TEXT)).plus(Range::ONE);
            }
            if overload == "contains_text" {
                cost = cost.plus(argument(0)?.by(TEXT));
            }
            (cost, None)
        }
        "validate" => {
            let pattern = Range::fixed(FORMAT_PATTERN_MAX).by(PATTERN);
            (argument(0)?.by(TEXT).times(pattern), None)
        }
        "_==_" => (equality(call.arguments.get(1)?)?, None),
        _ => return None,
    };
    Some(Estimate { cost, size: result })
}

/// Returns the cost of comparing values of a library's type.
fn equality(operand: &Operand) -> Option<Range> {
    let Type::Opaque(name) = &operand.of else {
        return None;
    };
    let max = match &**name {
        "kubernetes.NamedFormat" => FORMAT_MAX,
        "kubernetes.URL" if operand.is_computed => operand.size.max,
        _ => 1,
    };
    Some(Range { min: 1, max }.by(TEXT))
}

/// Returns the costs of functions that make or compare lists.
fn list_cost(call: &Call<'_>, overload: &str) -> Option<Estimate> {
    let argument = |place: usize| call.arguments.get(place);
    let literal = |place: usize| {
        let literal = argument(place).and_then(|argument| argument.literal);
        literal.map(|number| number.max(0).cast_unsigned())
    };
    let target = call.target.as_ref().map(|target| target.size);
    let (factor, size) = match overload {
        "sets_once" | "sets_twice" => {
            let factor = if overload == "sets_once" { 1.0 } else { 2.0 };
            let product = argument(0)?.size.times(argument(1)?.size);
            return Some(Estimate {
                cost: product.by(factor).plus(Range::ONE),
                size: None,
            });
        }
        "list_slice" => {
            let to = literal(1).unwrap_or(target?.max);
            (1.0, Range::fixed(to.wrapping_sub(literal(0).unwrap_or(0))))
        }
        "lists_range" => (1.0, Range::fixed(literal(0).unwrap_or(u64::MAX))),
        "list_reverse" => (1.0, target?),
        "list_flatten" => match argument(0) {
            None => (1.0, target?),
            Some(_) => (depth_factor(literal(0)), target?),
        },
        "list_distinct" => (2.0, target?.times(target?)),
        "list_sort" => sorting(call.target.as_ref()?),
        "list_sort_by" => sorting(argument(0)?),
        _ => return None,
    };
    Some(Estimate {
        cost: size.by(factor).plus(Range::fixed(1 + LIST)),
        size: Some(size),
    })
}

#[expect(clippy::cast_precision_loss, reason = "as a real server computes it")]
fn depth_factor(depth: Option<u64>) -> f64 {
    depth.unwrap_or(u64::MAX) as f64
}

/// Returns the cost of a comparison of keys, and the number of comparisons.
fn sorting(keys: &Operand) -> (f64, Range) {
    let factor = match (&keys.of, &keys.item) {
        (Type::Dyn, _) | (_, Some((Type::String | Type::Bytes | Type::Dyn, _))) => 2.0 + TEXT,
        _ => 2.0,
    };
    (factor, keys.size.times(keys.size))
}

fn traversal(target: &Operand) -> Range {
    match &target.item {
        Some((Type::String | Type::Bytes, size)) => {
            target.size.times(Range::ONE.plus(size.by(TEXT)))
        }
        Some(_) => target.size,
        None => target.size.by(TEXT),
    }
}

/// Returns the size of a text in which each `old` is replaced by `new`.
fn replaced(text: Range, old: Range, new: Range) -> Range {
    let (mut count, mut kept) = (Range::ZERO, Range::ZERO);
    if old.min == 0 {
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if new.max <= old.min {
        kept.max = text.max;
    } else {
        count.max = text.max.div_ceil(old.min);
    }
    if old.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if old.max <= new.min {
        kept.min = text.min;
    } else {
        count.min = text.min.div_ceil(old.max);
    }
    count.times(new).plus(kept)
}

fn joined(list: &Operand, separator: Option<Range>) -> Range {
    let items = list.item.as_ref();
    let joined = items.map_or(Range::ZERO, |(_, size)| list.size.times(*size));
    let Some(separator) = separator else {
        return joined;
    };
    let separators = Range {
        min: list.size.min.saturating_sub(1),
        max: list.size.max.saturating_sub(1),
    };
    joined.plus(separator.times(separators))
}
