//! Durations in nanoseconds, as CEL prints them.

/// Prints a duration in seconds, with the precision of a floating-point number.
pub(super) fn print_duration(nanoseconds: i64) -> String {
    let (whole, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    #[expect(clippy::cast_precision_loss, reason = "Go loses the same digits")]
    let seconds = whole as f64 + rest as f64 / 1e9;
    format!("{seconds}s")
}

#[cfg(test)]
mod tests {
    use super::print_duration;

    #[test]
    fn durations_are_printed_in_seconds() {
        for (nanoseconds, text) in [
            (0, "0s"),
            (1, "0.000000001s"),
            (-500_000_000, "-0.5s"),
            (3_661_500_000_000, "3661.5s"),
            (i64::MIN, "-9223372036.854776s"),
        ] {
            assert_eq!(print_duration(nanoseconds), text);
        }
    }
}
