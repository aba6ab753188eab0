//! Limits of numbers.

use fakeserver_value::{go_text::float, read::text, status::FieldError};
use serde_json::{Number, Value};

use super::{
    outcome::{Outcome, ValueLocation},
    types,
};

/// The greatest integer that doubles hold without gaps.
const SAFE_MAX: f64 = 9_007_199_254_740_991.0;
/// The smallest positive double that is no integer of 64 bits.
const INTEGER_END: f64 = 9_223_372_036_854_775_808.0;
/// The change since which numbers and limits have to be of the type and the format of the schema.
const RANGES_CHECKED: &str = "NumbersCheckedAgainstFormats";
/// The smallest relative difference that counts.
const EPSILON: f64 = 1e-9;

/// Returns whether a number is an integer, as far as JSON distinguishes them.
pub(super) fn is_integral(number: f64) -> bool {
    if !number.is_finite() || number.abs() > SAFE_MAX {
        return false;
    }
    let near = number.round();
    let difference = (number - near).abs();
    difference == 0.0 || difference < EPSILON * number.abs().min(1.0)
}

/// Checks a number; the limits of an integer are read as integers.
pub(super) fn check_number(
    number: &Number,
    schema: &Value,
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    outcome.matches += 1;
    let checks_ranges = place.kubernetes.gates().is_on(RANGES_CHECKED);
    if checks_ranges {
        check_range(number, "Checked", schema, place, outcome);
    }
    for (keyword, prefix) in [
        ("multipleOf", "MultipleOf"),
        ("minimum", "Minimum boundary"),
        ("maximum", "Maximum boundary"),
    ] {
        let Some(limit) = schema[keyword].as_number() else {
            continue;
        };
        // A limit of the schema is a double, whatever it was written as.
        let limit = limit.as_f64().unwrap_or_default();
        let mut own = Outcome::default();
        let as_number = Number::from_f64(limit).unwrap_or_else(|| 0.into());
        if checks_ranges {
            check_range(&as_number, prefix, schema, place, &mut own);
        }
        let native = number.as_i64().filter(|_| own.is_valid());
        match (keyword, native) {
            ("multipleOf", native) => check_factor(number, native, limit, place, &mut own),
            (_, native) => check_limit(number, native, limit, (keyword, schema), place, &mut own),
        }
        outcome.merge(own);
    }
}

fn check_limit(
    number: &Number,
    native: Option<i64>,
    limit: f64,
    (keyword, schema): (&str, &Value),
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    let is_maximum = keyword == "maximum";
    let exclusive = if is_maximum {
        "exclusiveMaximum"
    } else {
        "exclusiveMinimum"
    };
    let is_exclusive = schema[exclusive] == true;
    let (order, printed) = if let Some(native) = native {
        let limit = if limit < INTEGER_END || place.kubernetes.gates().is_on(RANGES_CHECKED) {
            to_integer(limit)
        } else {
            // A limit that is not checked overflows.
            i64::MIN
        };
        (Some(native.cmp(&limit)), limit.to_string())
    } else {
        let number = number.as_f64().unwrap_or_default();
        (number.partial_cmp(&limit), float(limit))
    };
    let Some(order) = order else { return };
    let is_beyond = if is_maximum {
        order.is_gt()
    } else {
        order.is_lt()
    };
    if is_beyond || (is_exclusive && order.is_eq()) {
        let which = if is_maximum { "less" } else { "greater" };
        let or_equal = if is_exclusive { "" } else { " or equal to" };
        place.refuse(
            &print(number, native),
            &format!("should be {which} than{or_equal} {printed}"),
            outcome,
        );
    }
}

fn check_factor(
    number: &Number,
    native: Option<i64>,
    factor: f64,
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    let printed = native.map_or_else(|| float(factor), |_| to_integer(factor).to_string());
    let is_positive = native.map_or(factor > 0.0, |_| to_integer(factor) > 0);
    if !is_positive {
        let message = format!(
            "factor MultipleOf declared for {} must be positive: {printed}",
            place.name
        );
        let error = FieldError::invalid_printed(place.field(), &printed, &message);
        return outcome.add(message, error);
    }
    let is_multiple = if let Some(native) = native {
        native % to_integer(factor) == 0
    } else {
        let number = number.as_f64().unwrap_or_default();
        is_integral(if factor < 1.0 {
            1.0 / factor * number
        } else {
            number / factor
        })
    };
    if !is_multiple {
        let what = format!("should be a multiple of {printed}");
        place.refuse(&print(number, native), &what, outcome);
    }
}

/// Checks that a number, or a limit of numbers, is of the type and the format of the schema.
fn check_range(
    number: &Number,
    prefix: &str,
    schema: &Value,
    place: ValueLocation<'_>,
    outcome: &mut Outcome,
) {
    let types = types(schema);
    let format = text(&schema["format"]);
    let (ty, format) = match types.as_slice() {
        ["integer"] if matches!(format, "int32" | "int64") => ("integer", format),
        ["integer"] => ("integer", ""),
        ["number"] if matches!(format, "float" | "double") => ("number", format),
        ["number"] => ("number", ""),
        _ => ("", ""),
    };
    let fits = match (ty, format) {
        ("integer", "int32") => integer(number).is_some_and(|value| i32::try_from(value).is_ok()),
        ("integer", _) => integer(number).is_some(),
        (_, "float") => {
            let number = number.as_f64().unwrap_or_default();
            number.abs() <= f64::from(f32::MAX)
        }
        _ => true,
    };
    if !fits {
        let format = match format {
            "" => "(default format)".to_owned(),
            format => format!("with format {format}"),
        };
        let name = place.name;
        let message = format!("{prefix} value must be of type {ty} {format} in {name}");
        place.refuse_whole(message, outcome);
    }
}

/// Returns the integer that a number is written as.
fn integer(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let value = number.as_f64()?;
        let fits = value.fract() == 0.0 && value >= -9_223_372_036_854_775_808.0;
        (fits && value < INTEGER_END).then(|| to_integer(value))
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a limit that is no integer is cut, as a real server does it"
)]
fn to_integer(number: f64) -> i64 {
    number as i64
}

fn print(number: &Number, native: Option<i64>) -> String {
    // An integer that is compared with a limit beyond integers is shown as a double.
    let printed = native.map(|native| native.to_string());
    printed.unwrap_or_else(|| float(number.as_f64().unwrap_or_default()))
}
