//! The costs of calls that were made.

use kube_cel::cel::Value;

use super::{
    call_cost::{REGEX, TEXT},
    size::scale,
    values::size,
};

/// The cost of a look at what a user may do.
const CHECK: u64 = 350_000;
/// The size of the regular expression of a format.
const FORMAT_REGEX: u64 = 128;

/// Returns the cost of a call with these operands, its target first.
pub(super) fn call_cost(function: &str, overload: &str, operands: &[Value], result: &Value) -> u64 {
    let of = |place: usize| operands.get(place).map_or(1, size);
    let matching =
        |text: u64, regex: u64| scale(text + 1, TEXT).saturating_mul(scale(regex, REGEX));
    match function {
        "check" => return CHECK,
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            return operands.first().map_or(0, traversal);
        }
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR"
        | "quantity" | "isQuantity" | "semver" | "isSemver" => return scale(of(0), TEXT),
        "ip" if overload != "cidr_ip" => return scale(of(0), TEXT),
        "replace" | "split" | "ip.isCanonical" => return scale(of(0), 2.0 * TEXT),
        "join" => return scale(size(result), 2.0 * TEXT),
        "find" | "findAll" => return matching(of(0), of(1)),
        "containsIP" | "containsCIDR" => {
            let mut cost = scale(2 * of(0), TEXT);
            if function == "containsCIDR" {
                cost += scale(of(0), TEXT) + 1;
            }
            if overload.ends_with("_string") {
                cost += scale(of(1), TEXT);
            }
            return cost;
        }
        "validate" => return matching(of(1), FORMAT_REGEX),
        "_==_" if matches!(operands.first(), Some(Value::Opaque(_))) => return 1,
        _ => {}
    }
    match overload {
        "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string"
        | "strings_quote" | "string_format" => scale(of(0), TEXT),
        "in_list" => of(1),
        "compare_text" | "equals" | "not_equals" => scale(of(0).min(of(1)), TEXT),
        "add_string" | "add_bytes" => scale(of(0) + of(1), TEXT),
        "matches_string" => matching(of(0), of(1)),
        "contains_string" => scale(of(0), TEXT).saturating_mul(scale(of(1), TEXT)),
        _ => 1,
    }
}

/// Returns the cost of a look at all parts of a value.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as a real server computes it"
)]
fn traversal(value: &Value) -> u64 {
    match value {
        Value::String(text) => (text.len() as f64 * TEXT) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * TEXT) as u64,
        Value::List(items) => items.iter().map(traversal).sum(),
        _ => 1,
    }
}
