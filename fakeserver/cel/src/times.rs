//! Times and durations: their parts, and how texts and numbers become them.

use jiff::{
    Timestamp, Zoned,
    tz::{Offset, TimeZone},
};
use kube_cel::cel::Value;

use super::{
    interpreter::{Evaluated, Failure},
    library::no_form,
};

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
pub(super) fn call(name: &str, operands: &[Value]) -> Option<Evaluated> {
    let part = name
        .strip_prefix("get")
        .filter(|part| PARTS.contains(part))?;
    match operands {
        [Value::Duration(duration)] => Some(Ok(Value::Int(match part {
            "Hours" => duration.num_hours(),
            "Minutes" => duration.num_minutes(),
            "Seconds" => duration.num_seconds(),
            "Milliseconds" => duration.num_milliseconds(),
            _ => return Some(Err(no_form(name, operands))),
        }))),
        [Value::Timestamp(time), rest @ ..] => {
            let zone = match rest {
                [] => Ok(TimeZone::UTC),
                [Value::String(zone)] => time_zone(zone),
                _ => return Some(Err(no_form(name, operands))),
            };
            let nanoseconds = i32::try_from(time.timestamp_subsec_nanos()).unwrap_or_default();
            let time = Timestamp::new(time.timestamp(), nanoseconds).ok()?;
            let zone = match zone {
                Ok(zone) => zone,
                Err(failure) => return Some(Err(failure)),
            };
            Some(Ok(Value::Int(part_of(part, &time.to_zoned(zone))?)))
        }
        _ => Some(Err(no_form(name, operands))),
    }
}

fn part_of(part: &str, time: &Zoned) -> Option<i64> {
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

/// Returns the time zone of a name, or of hours and minutes.
fn time_zone(name: &str) -> Result<TimeZone, Failure> {
    let Some((hours, minutes)) = name.split_once(':') else {
        let name = if name.is_empty() { "UTC" } else { name };
        let unknown = |_| Failure::error(format!("unknown time zone {name}"));
        return TimeZone::get(name).map_err(unknown);
    };
    let number = |text: &str| {
        text.parse::<i32>()
            .map_err(|_| Failure::error(format!("strconv.Atoi: parsing {text:?}: invalid syntax")))
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let minutes = if name.starts_with('-') {
        hours * 60 - minutes
    } else {
        hours * 60 + minutes
    };
    let offset = Offset::from_seconds(minutes.saturating_mul(60));
    offset
        .map(TimeZone::fixed)
        .map_err(|_| Failure::error(format!("unknown time zone {name}")))
}

/// Returns the text of the time that is so many seconds after 1970.
pub(super) fn text_of(seconds: i64) -> Option<String> {
    Some(Timestamp::from_second(seconds).ok()?.to_string())
}
