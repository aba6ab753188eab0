//! Ages in human-readable form.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Returns the time since `time` (RFC 3339) at `now`.
pub fn since(time: &Value, now: Timestamp) -> String {
    match parse(time) {
        Some(time) => human(now.duration_since(time)),
        None => "<unknown>".to_owned(),
    }
}

/// A time of an object.
pub fn parse(time: &Value) -> Option<Timestamp> {
    time.as_str()?.parse().ok()
}

/// A duration with at most two units, the finer one only while it matters.
pub fn human(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    let days = hours / 24;
    let two = |first: i64, unit: char, second: i64, next: char| {
        if second == 0 {
            format!("{first}{unit}")
        } else {
            format!("{first}{unit}{second}{next}")
        }
    };
    match seconds {
        // Clocks differ a little.
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => two(days, 'd', hours % 24, 'h'),
        _ if hours < 24 * 365 * 2 => format!("{days}d"),
        _ if hours < 24 * 365 * 8 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}
