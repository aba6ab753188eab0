//! Tests of what a gauge shows of a version.

use crate::shared_informer::metrics::version_in_short;

#[test]
#[expect(clippy::float_cmp, reason = "these values are exact")]
fn of_a_version_the_last_15_digits_are_shown() {
    for (version, expected) in [
        ("", 0.0),
        ("opaque", 0.0),
        ("7", 7.0),
        ("999999999999999", 999_999_999_999_999.0),
        ("1999999999999999", 999_999_999_999_999.0),
        ("12345678901234567890123", 901_234_567_890_123.0),
    ] {
        assert_eq!(version_in_short(&version.into()), expected, "{version}");
    }
}
