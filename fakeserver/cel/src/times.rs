//! Parts of times and durations.

use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::TimeZone};

use super::{
    interpreter::{EvaluationResult, Failure},
    library::no_form,
    value::Value,
};

const SECOND: i64 = 1_000_000_000;

/// The parts of times. Durations have the last four.
const PARTS: [&str; 10] = [
    "FullYear",
    "Month",
    "DayOfYear",
    "DayOfMonth",
    "Date",
    "DayOfWeek",
    "Hours",
    "Minutes",
    "Seconds",
    "Milliseconds",
];

/// Returns a part of a time or a duration, if `name` is one.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    let part = name
        .strip_prefix("get")
        .filter(|part| PARTS.contains(part))?;
    let unknown = || no_form(name, operands);
    let found = match operands {
        [Value::Duration(duration)] => match part {
            "Hours" => Ok(duration / (3_600 * SECOND)),
            "Minutes" => Ok(duration / (60 * SECOND)),
            "Seconds" => Ok(duration / SECOND),
            "Milliseconds" => Ok(duration / 1_000_000),
            _ => Err(unknown()),
        },
        [Value::Timestamp(time)] => part_of(part, time.utc()).ok_or_else(unknown),
        [Value::Timestamp(time), Value::String(zone)] => {
            local(time.utc(), zone).and_then(|time| part_of(part, time).ok_or_else(unknown))
        }
        _ => Err(unknown()),
    };
    Some(found.map(Value::Int))
}

fn part_of(part: &str, time: DateTime) -> Option<i64> {
    Some(match part {
        "FullYear" => time.year().into(),
        "Month" => i64::from(time.month()) - 1,
        "DayOfYear" => i64::from(time.day_of_year()) - 1,
        "DayOfMonth" => i64::from(time.day()) - 1,
        "Date" => time.day().into(),
        "DayOfWeek" => time.weekday().to_sunday_zero_offset().into(),
        "Hours" => time.hour().into(),
        "Minutes" => time.minute().into(),
        "Seconds" => time.second().into(),
        "Milliseconds" => time.millisecond().into(),
        _ => return None,
    })
}

/// Returns a time in a time zone, which has a name, or hours and minutes.
fn local(utc: DateTime, zone: &str) -> Result<DateTime, Failure> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        let zone = if zone.is_empty() { "UTC" } else { zone };
        let unknown = |_| Failure::error(format!("unknown time zone {zone}"));
        let of = TimeZone::get(zone).map_err(unknown)?;
        let instant = TimeZone::UTC.to_timestamp(utc).unwrap_or(Timestamp::MAX);
        let offset = of.to_offset(instant).seconds();
        return Ok(utc.saturating_add(SignedDuration::from_secs(offset.into())));
    };
    let number = |text: &str| {
        text.parse::<i32>()
            .map_err(|_| Failure::error(format!("strconv.Atoi: parsing {text:?}: invalid syntax")))
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if !(0..60).contains(&minutes) {
        let why = format!("timezone offset minutes out of range [0, 59]: {zone}");
        return Err(Failure::error(why));
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let offset = i64::from(hours) * 60 + i64::from(sign * minutes);
    Ok(utc.saturating_add(SignedDuration::from_mins(offset)))
}
