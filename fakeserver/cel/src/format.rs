//! The function `format` of texts: its evaluation, and the check of literal ones.

use std::fmt::Write;

use super::{
    ast::{Expr, ExprKind},
    checker::Notes,
    interpreter::Failure,
    library,
    parser::ExpressionError,
    types::Type,
    value::{Value, as_list, as_type, print_double, sorted, type_name},
};

/// The number of digits after the point, unless a clause says another.
const PRECISION: usize = 6;

/// The meaning of `%` and what follows.
#[derive(Clone, Copy)]
enum Clause {
    String,
    Decimal,
    Fixed(usize),
    Scientific,
    Binary,
    Hex { is_upper: bool },
    Octal,
}

/// A type that does not fit a clause.
struct FormatMismatch {
    message: String,
    /// The position of the argument.
    at: Option<usize>,
}

/// Returns the text with its clauses replaced by arguments.
pub(super) fn format(text: &str, arguments: &[Value]) -> Result<String, Failure> {
    let made = interpolate(text, arguments.len(), |index, clause| {
        let printed = show(clause, &arguments[index]);
        printed.map_err(|message| FormatMismatch { message, at: None })
    });
    made.map(|(made, _)| made)
        .map_err(|misfit| Failure::Error(misfit.message))
}

/// Returns the error of a call of `format` whose text and list of arguments are literal.
pub(super) fn problem(call: &Expr, notes: &Notes) -> Option<ExpressionError> {
    let ExprKind::Call {
        function,
        target: Some(target),
        arguments,
    } = &call.kind
    else {
        return None;
    };
    let (Some(text), [list]) = (target.literal_text(), arguments.as_slice()) else {
        return None;
    };
    let ExprKind::List(elements) = &list.kind else {
        return None;
    };
    if function != "format" {
        return None;
    }
    let checked = interpolate(text, elements.len(), |index, clause| {
        let value = &elements[index].value;
        misfit(clause, value, notes).map_or(Ok(String::new()), Err)
    });
    match checked {
        Err(misfit) => Some(ExpressionError::new(
            misfit.at.unwrap_or(call.at),
            misfit.message,
        )),
        Ok((_, count)) if count < elements.len() => Some(ExpressionError::new(
            call.at,
            format!(
                "too many arguments supplied to string.format (expected {count}, got {})",
                elements.len()
            ),
        )),
        Ok(_) => None,
    }
}

/// Replaces each clause of a text by the result of `replace`. Also returns the number of clauses.
fn interpolate(
    text: &str,
    count: usize,
    mut replace: impl FnMut(usize, Clause) -> Result<String, FormatMismatch>,
) -> Result<(String, usize), FormatMismatch> {
    let plain = |message: String| FormatMismatch { message, at: None };
    let (mut made, mut rest, mut index) = (String::new(), text, 0);
    while let Some((before, after)) = rest.split_once('%') {
        made.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            made.push('%');
            rest = after;
            continue;
        }
        if after.is_empty() {
            return Err(plain("unexpected end of string".to_owned()));
        }
        if index >= count {
            return Err(plain(format!("index {index} out of range")));
        }
        let (clause, after) = clause(after)
            .map_err(|why| plain(format!("could not parse formatting clause: {why}")))?;
        let replaced = replace(index, clause).map_err(|misfit| FormatMismatch {
            message: format!("error during formatting: {}", misfit.message),
            ..misfit
        });
        made.push_str(&replaced?);
        rest = after;
        index += 1;
    }
    made.push_str(rest);
    Ok((made, index))
}

/// Reads a clause, and returns it with the rest of the text.
fn clause(text: &str) -> Result<(Clause, &str), String> {
    let (precision, text) = match text.strip_prefix('.') {
        None => (PRECISION, text),
        Some(text) => {
            let end = text.find(|letter: char| !letter.is_ascii_digit());
            let end = end.ok_or(
                "error while parsing precision: could not find end of precision specifier",
            )?;
            let digits = &text[..end];
            let precision = digits.parse().map_err(|_| {
                format!(
                    "error while parsing precision: error while converting precision to integer: strconv.Atoi: \
                     parsing {digits:?}: invalid syntax"
                )
            })?;
            (precision, &text[end..])
        }
    };
    let mut letters = text.chars();
    let letter = letters.next().unwrap_or_default();
    let clause = match letter {
        's' => Clause::String,
        'd' => Clause::Decimal,
        'f' => Clause::Fixed(precision),
        'e' => Clause::Scientific,
        'b' => Clause::Binary,
        'x' => Clause::Hex { is_upper: false },
        'X' => Clause::Hex { is_upper: true },
        'o' => Clause::Octal,
        other => return Err(format!("unrecognized formatting clause \"{other}\"")),
    };
    Ok((clause, letters.as_str()))
}

// === impl Clause ===

impl Clause {
    /// Returns the error of a type that does not fit.
    fn refusal(self, name: &str) -> String {
        let rule = match self {
            Self::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                 durations, and timestamps"
            }
            Self::Decimal => "decimal clause can only be used on integers",
            Self::Fixed(_) => "fixed-point clause can only be used on doubles",
            Self::Scientific => "scientific clause can only be used on doubles",
            Self::Binary => "only integers and bools can be formatted as binary",
            Self::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Self::Octal => "octal clause can only be used on integers",
        };
        format!("{rule}, was given {name}")
    }

    fn takes(self, of: &Type) -> bool {
        let is_number = matches!(of, Type::Int | Type::Uint);
        *of == Type::Dyn
            || match self {
                Self::String => !matches!(
                    of,
                    Type::Optional(_) | Type::Object(_) | Type::Opaque(_) | Type::Error
                ),
                Self::Decimal | Self::Octal => is_number,
                Self::Fixed(_) | Self::Scientific => matches!(of, Type::Double | Type::String),
                Self::Binary => is_number || *of == Type::Bool,
                Self::Hex { .. } => is_number || matches!(of, Type::String | Type::Bytes),
            }
    }
}

/// Returns the part of an argument whose type does not fit a clause.
fn misfit(clause: Clause, argument: &Expr, notes: &Notes) -> Option<FormatMismatch> {
    let of = notes.type_of(argument);
    if !clause.takes(of) {
        return Some(FormatMismatch {
            message: clause.refusal(of.name()),
            at: Some(argument.at),
        });
    }
    let is_literal = matches!(argument.kind, ExprKind::List(_) | ExprKind::Map(_));
    if !is_literal || !matches!(clause, Clause::String) {
        return None;
    }
    let mut parts = argument.parts().into_iter();
    parts.find_map(|part| misfit(clause, part, notes))
}

fn show(clause: Clause, value: &Value) -> Result<String, String> {
    let refused = || Err(clause.refusal(&type_name(value)));
    let special = match value {
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        Value::Float(number) => Some(*number),
        _ => None,
    };
    Ok(match (clause, value) {
        (Clause::String, value) => return show_text(value),
        (Clause::Decimal, Value::Int(number)) => number.to_string(),
        (Clause::Decimal, Value::UInt(number)) => number.to_string(),
        (Clause::Fixed(precision), _) => match special {
            Some(number) => fixed(number, precision),
            None => return refused(),
        },
        (Clause::Scientific, _) => match special {
            Some(number) => scientific(number),
            None => return refused(),
        },
        (Clause::Binary, Value::Bool(value)) => u8::from(*value).to_string(),
        (Clause::Binary, Value::Int(number)) => {
            signed(*number, format!("{:b}", number.unsigned_abs()))
        }
        (Clause::Binary, Value::UInt(number)) => format!("{number:b}"),
        (Clause::Octal, Value::Int(number)) => {
            signed(*number, format!("{:o}", number.unsigned_abs()))
        }
        (Clause::Octal, Value::UInt(number)) => format!("{number:o}"),
        (Clause::Hex { is_upper }, value) => {
            let digits = match value {
                Value::Int(number) => signed(*number, format!("{:x}", number.unsigned_abs())),
                Value::UInt(number) => format!("{number:x}"),
                Value::String(text) => hex(text.as_bytes()),
                Value::Bytes(bytes) => hex(bytes),
                _ => return refused(),
            };
            if is_upper {
                digits.to_uppercase()
            } else {
                digits
            }
        }
        _ => return refused(),
    })
}

fn signed(number: i64, digits: String) -> String {
    if number < 0 {
        format!("-{digits}")
    } else {
        digits
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Prints a number with groups of three digits.
fn fixed(number: f64, precision: usize) -> String {
    if !number.is_finite() {
        return not_finite(number).to_owned();
    }
    let printed = format!("{:.precision$}", number.abs());
    let (whole, fraction) = printed.split_at(printed.find('.').unwrap_or(printed.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    format!("{sign}{grouped}{fraction}")
}

/// Prints a number with a power of ten.
fn scientific(number: f64) -> String {
    if !number.is_finite() {
        return not_finite(number).to_owned();
    }
    let printed = format!("{number:.PRECISION$e}");
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ("⁻", digits),
        None => ("", exponent),
    };
    let raised = |digit: char| match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    let digits: String = format!("{digits:0>2}").chars().map(raised).collect();
    format!("{mantissa}×10{sign}{digits}")
}

fn not_finite(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "∞"
    } else {
        "-∞"
    }
}

fn show_text(value: &Value) -> Result<String, String> {
    if let Some(items) = as_list(value) {
        let items: Result<Vec<String>, String> = items.iter().map(nested).collect();
        return Ok(format!("[{}]", items?.join(", ")));
    }
    match value {
        Value::Null => Ok("null".to_owned()),
        Value::Map(map) => {
            let entries = sorted(map).into_iter().map(|(key, value)| {
                let key = match &key {
                    Value::String(text) => format!("{text:?}"),
                    other => show_text(other)?,
                };
                Ok(format!("{key}:{}", nested(&value)?))
            });
            let mut entries = entries.collect::<Result<Vec<String>, String>>()?;
            entries.sort();
            Ok(format!("{{{}}}", entries.join(", ")))
        }
        value => match as_type(value) {
            Some(name) => Ok(name.to_owned()),
            None if matches!(value, Value::Opaque(_)) => {
                Err(Clause::String.refusal(&type_name(value)))
            }
            None => match library::call("string", false, std::slice::from_ref(value)) {
                Ok(Value::String(text)) => Ok(text.to_string()),
                _ => Err(Clause::String.refusal(&type_name(value))),
            },
        },
    }
}

/// Prints a value within a list or a map, as a literal.
fn nested(value: &Value) -> Result<String, String> {
    Ok(match value {
        Value::String(text) => format!("{text:?}"),
        Value::Bytes(_) => format!("b{:?}", show_text(value)?),
        Value::Timestamp(_) => format!("timestamp({:?})", show_text(value)?),
        Value::Duration(_) => format!("duration({:?})", show_text(value)?),
        Value::Float(number) if number.is_finite() => format!("{number:.PRECISION$}"),
        Value::Float(number) => format!("{:?}", print_double(*number)),
        Value::Opaque(_) if as_list(value).is_none() && as_type(value).is_none() => {
            return Err(format!("no formatting function for {}", type_name(value)));
        }
        other => show_text(other)?,
    })
}
