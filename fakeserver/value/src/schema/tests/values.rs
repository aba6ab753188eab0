//! Quantities, times, base64 and JSON, as Go reads and prints them.

use crate::{
    json as json_text,
    schema::{
        base64,
        quantity::Quantity,
        time::{self, Precision},
    },
};

/// Quantities and how they are printed, recorded from kubectl 1.33, which reads and prints them by apimachinery's own code.
const QUANTITIES: &[(&str, &str)] = &[
    ("0", "0"),
    ("0Ki", "0"),
    ("00", "0"),
    (".5", "500m"),
    ("0.5", "500m"),
    ("1.", "1."),
    ("+1", "+1"),
    ("1000m", "1"),
    ("1500m", "1500m"),
    ("100m", "100m"),
    ("2000", "2k"),
    ("-2000", "-2k"),
    ("1e3", "1e3"),
    ("1E3", "1E3"),
    ("12e1", "120"),
    ("1e-3", "1e-3"),
    ("1E", "1E"),
    ("1024", "1024"),
    ("1024Mi", "1Gi"),
    ("1025Mi", "1025Mi"),
    ("1.5Gi", "1536Mi"),
    ("0.5Ki", "512"),
    ("0.1Mi", "104857600m"),
    ("1Ki", "1Ki"),
    ("0.0000000001", "1n"),
    ("-0.0000000001", "-1n"),
    ("1.0000000001", "1000000001n"),
    ("123456789", "123456789"),
    ("9223372036854775807", "9223372036854775807"),
    ("99999999999999999999", "99999999999999999999"),
    ("8Ei", "9223372036854775807"),
    ("7Ei", "7Ei"),
    ("100E", "100E"),
    ("1234567890123456789012", "1234567890123456789012"),
    ("3.14159265358979323846", "3141592654n"),
    ("1u", "1u"),
    ("1000u", "1m"),
    ("1E4", "10e3"),
    ("10E3", "10E3"),
    ("+0.5", "500m"),
    ("+2000", "2k"),
    ("1.0", "1"),
    ("1.00", "1"),
    ("1.500", "1.500"),
    ("1.5000", "1500m"),
    ("01", "01"),
    ("+1Gi", "+1Gi"),
    ("1.Gi", "1.Gi"),
    ("1016Ki", "1016Ki"),
    ("8Ti", "8Ti"),
    ("9Ti", "9Ti"),
    ("1Pi", "1Pi"),
    ("-1536Mi", "-1536Mi"),
    ("9223372036854775808", "9223372036854775808"),
    ("9223372036854775808Ki", "9223372036854775807"),
    ("99999999999999999999Ki", "9223372036854775807"),
    ("1e99999999999", "10e1215752190"),
    ("1e19", "10e18"),
    ("1000E", "1"),
    ("10000E", "10"),
    ("-99999999999999999999", "-99999999999999999999"),
    ("12345678901234567890m", "12345678901234567890m"),
    ("1000P", "1E"),
    ("0.1E3", "100"),
    ("1.5E3", "1500"),
    ("5e-1", "500e-3"),
    ("1E-3", "1E-3"),
    ("1e+3", "1e+3"),
    ("1e03", "1e03"),
    ("1e30", "1e30"),
    ("-1Ki", "-1Ki"),
    ("-1.5Gi", "-1536Mi"),
    ("1e-12", "1e-9"),
    ("1.0e3", "1e3"),
    ("0e5", "0"),
    ("0.1n", "1n"),
    ("0.5Gi", "512Mi"),
    ("0.0001Ki", "102400u"),
    ("0.3Ki", "307200m"),
    ("1100", "1100"),
    ("100100", "100100"),
    ("1001000", "1001k"),
    ("123456789012345678", "123456789012345678"),
    ("1234567890123456789", "1234567890123456789"),
    ("0.000", "0"),
    ("1.000", "1"),
    ("2.5000000005", "2500000001n"),
];

#[test]
fn quantities_are_printed_in_canonical_form() {
    for (text, printed) in QUANTITIES {
        assert_eq!(
            text.parse::<Quantity>()
                .map(|quantity| quantity.to_string())
                .as_deref(),
            Ok(*printed),
            "{text}"
        );
    }
    for text in [
        "", "x", "1 ", "1x", "1KiB", "--1", "1.2.3", "1e1.5", "1Kk", "e",
    ] {
        assert!(text.parse::<Quantity>().is_err(), "{text}");
    }
    let mut sorted = ["1Gi", "1G", "-1", "0", "1n", "1000m", "999999999n", "1e30"]
        .map(|text| text.parse::<Quantity>().unwrap());
    sorted.sort();
    assert_eq!(
        sorted.map(|quantity| quantity.to_string()).join(" "),
        "-1 0 1n 999999999n 1 1G 1Gi 1e30"
    );
}

#[track_caller]
fn check_time(text: &str, precision: Precision, printed: Result<&str, &str>) {
    let found = time::parse(text, precision).map(|time| time::print(time, precision));
    let found = found.map_err(|error| error.to_string());
    assert_eq!(found, printed.map(str::to_owned).map_err(str::to_owned));
}

#[test]
fn times_are_read_and_printed_as_go_does() {
    check_time(
        "2026-01-02T03:04:05Z",
        Precision::Seconds,
        Ok("2026-01-02T03:04:05Z"),
    );
    check_time(
        "2026-01-02T03:04:05.999999999Z",
        Precision::Seconds,
        Ok("2026-01-02T03:04:05Z"),
    );
    check_time(
        "1969-12-31T23:59:59.5Z",
        Precision::Seconds,
        Ok("1969-12-31T23:59:59Z"),
    );
    check_time(
        "2026-01-02T03:04:05+02:30",
        Precision::Seconds,
        Ok("2026-01-02T00:34:05Z"),
    );
    check_time(
        "2026-01-02T3:04:05Z",
        Precision::Seconds,
        Ok("2026-01-02T03:04:05Z"),
    );
    check_time(
        "2026-01-02T03:04:05.000001Z",
        Precision::Micros,
        Ok("2026-01-02T03:04:05.000001Z"),
    );
    check_time(
        "0001-01-01T00:00:00Z",
        Precision::Seconds,
        Ok("0001-01-01T00:00:00Z"),
    );
}

#[test]
fn invalid_times_are_rejected_in_go_s_words() {
    for (text, rest) in [
        ("2026-01-02", r#": cannot parse "" as "T""#),
        (
            "2026-1-02T03:04:05Z",
            r#": cannot parse "1-02T03:04:05Z" as "01""#,
        ),
        ("2026-01-02T03:04:05", r#": cannot parse "" as "Z07:00""#),
        (
            "2026-01-02 03:04:05Z",
            r#": cannot parse " 03:04:05Z" as "T""#,
        ),
    ] {
        let message = format!(r#"parsing time "{text}" as "2006-01-02T15:04:05Z07:00"{rest}"#);
        check_time(text, Precision::Seconds, Err(&message));
    }
    for (text, rest) in [
        ("2026-13-02T03:04:05Z", "month out of range"),
        ("2026-02-30T03:04:05Z", "day out of range"),
        ("2026-02-03T24:04:05Z", "hour out of range"),
        ("2026-02-03T03:04:05Zx", r#"extra text: "x""#),
    ] {
        check_time(
            text,
            Precision::Seconds,
            Err(&format!(r#"parsing time "{text}": {rest}"#)),
        );
    }
    check_time(
        "2026-01-02T03:04:05Z",
        Precision::Micros,
        Err(
            r#"parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#,
        ),
    );
}

#[test]
fn base64_is_refused_where_go_refuses_it() {
    for (text, offset) in [
        ("a", 0),
        ("ab", 0),
        ("abc", 0),
        ("ab=", 3),
        ("a=", 1),
        ("ab=c", 2),
        ("abc=d", 4),
        ("abcd=", 4),
        ("ab==x", 4),
        ("ab\n=", 4),
        ("ab-_", 2),
        ("====", 0),
        ("abcde", 4),
    ] {
        assert_eq!(
            base64::decode(text).map_err(|error| error.offset),
            Err(offset),
            "{text:?}"
        );
    }
    assert_eq!(base64::decode("YW\r\nI=\n").as_deref(), Ok(&b"ab"[..]));
    assert_eq!(base64::decode("").as_deref(), Ok(&b""[..]));
}

#[test]
fn broken_json_is_refused_in_the_words_of_go() {
    for (text, message) in [
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        (r#"{"a"#, "unexpected end of JSON input"),
        (r#"{"a":1"#, "unexpected end of JSON input"),
        (
            "{bad",
            "invalid character 'b' looking for beginning of object key string",
        ),
        (
            r#"{"a":1,}"#,
            "invalid character '}' looking for beginning of object key string",
        ),
        (r#"{"a" 1}"#, "invalid character '1' after object key"),
        (
            r#"{"a":1 "b""#,
            "invalid character '\"' after object key:value pair",
        ),
        ("[1 2]", "invalid character '2' after array element"),
        (
            "[1,]",
            "invalid character ']' looking for beginning of value",
        ),
        ("1 2", "invalid character '2' after top-level value"),
        ("01", "invalid character '1' after top-level value"),
        ("-x", "invalid character 'x' in numeric literal"),
        (
            "1.x",
            "invalid character 'x' after decimal point in numeric literal",
        ),
        (
            "1e+x",
            "invalid character 'x' in exponent of numeric literal",
        ),
        (
            "trie",
            "invalid character 'i' in literal true (expecting 'u')",
        ),
        ("\"a\nb\"", r"invalid character '\n' in string literal"),
        (r#""\x""#, "invalid character 'x' in string escape code"),
        (
            r#""\u12g4""#,
            "invalid character 'g' in \\u hexadecimal character escape",
        ),
        (
            "'a'",
            r"invalid character '\'' looking for beginning of value",
        ),
        ("é", "invalid character 'Ã' looking for beginning of value"),
    ] {
        let found = json_text::parse(text.as_bytes()).map_err(|error| error.to_string());
        assert_eq!(found, Err(message.to_owned()), "{text}");
    }
}

#[test]
fn quantities_are_added_in_the_family_of_the_left_side() {
    let check = |left: &str, right: &str, sum: &str, difference: &str| {
        let [left, right] = [left, right].map(|text| text.parse::<Quantity>().unwrap());
        let mut added = left.clone();
        added += &right;
        assert_eq!(added.to_string(), sum);
        let mut subtracted = left;
        subtracted -= &right;
        assert_eq!(subtracted.to_string(), difference);
    };
    check("1", "1500m", "2500m", "-500m");
    check("100m", "900m", "1", "-800m");
    check("1Gi", "512Mi", "1536Mi", "512Mi");
    check("1Gi", "1Gi", "2Gi", "0");
    check("0", "1Ki", "1Ki", "-1Ki");
    check("1k", "24", "1024", "976");
    check("1Ki", "1", "1025", "1023");
    check("1e3", "1", "1001", "999");
    check(
        "1n",
        "1E",
        "1000000000000000000000000001n",
        "-999999999999999999999999999n",
    );
}

#[test]
fn quantities_are_counted_in_units_away_from_zero() {
    let units = |text: &str, scale: i64| text.parse::<Quantity>().unwrap().in_units_of(scale);
    assert_eq!(units("1500m", -3), 1500);
    assert_eq!(units("1500m", 0), 2);
    assert_eq!(units("-1500m", 0), -2);
    assert_eq!(units("1Gi", -3), 1_073_741_824_000);
    assert_eq!(units("1n", 3), 1);
    assert_eq!(units("9E", -3), i64::MAX);
    let rounded = |text: &str| text.parse::<Quantity>().unwrap().rounded_up().to_string();
    assert_eq!(rounded("1500m"), "2");
    assert_eq!(rounded("0.5Ki"), "512");
    assert_eq!(rounded("1Gi"), "1Gi");
    assert_eq!(Quantity::from(3).to_string(), "3");
}

#[test]
fn json_is_bounded_in_depth_and_mends_half_surrogates_as_go_does() {
    let deep = "[".repeat(100_000);
    assert_eq!(
        json_text::parse(deep.as_bytes()).unwrap_err().to_string(),
        "exceeded max depth"
    );
    let surrogates = json_text::parse(br#""\ud83d\ude00 \ud83d \ude00 \ud83dx""#)
        .unwrap()
        .to_value();
    assert_eq!(surrogates, "😀 \u{fffd} \u{fffd} \u{fffd}x");
}

#[test]
fn quantities_are_rounded_away_from_zero() {
    use crate::schema::Quantity;

    let rounded = |text: &str| -> String {
        let quantity: Quantity = text.parse().unwrap();
        quantity.rounded_to_milli().to_string()
    };
    for (text, expected) in [
        ("100u", "1m"),
        ("-1n", "-1m"),
        ("1m", "1m"),
        ("1001u", "2m"),
        ("1Gi", "1Gi"),
    ] {
        assert_eq!(rounded(text), expected, "{text}");
    }
    let whole = |text: &str| text.parse::<Quantity>().unwrap().in_units_of(0);
    assert_eq!((whole("1500m"), whole("-1m"), whole("2k")), (2, -1, 2000));
}
