//! Errors and limits of the JSON scanner.

use proptest::prelude::*;
use serde_json::Value;

use super::{DEPTH_MAX, syntax_error};

#[test]
fn syntax_errors_have_the_words_of_the_api() {
    let check = |text: &str, error: &str| {
        assert_eq!(
            syntax_error(text.as_bytes()).as_deref(),
            Some(error),
            "{text}"
        );
    };
    check("", "unexpected end of JSON input");
    check(
        "{not json",
        "invalid character 'n' looking for beginning of object key string",
    );
    check("{\"a\" 1}", "invalid character '1' after object key");
    check(
        "{\"a\":1 2}",
        "invalid character '2' after object key:value pair",
    );
    check("[1 2]", "invalid character '2' after array element");
    check("{} x", "invalid character 'x' after top-level value");
    check(
        "tru",
        "invalid character ' ' in literal true (expecting 'e')",
    );
    check("[1", "unexpected end of JSON input");
    check(
        "nil",
        "invalid character 'i' in literal null (expecting 'u')",
    );
    check("\"\\q\"", "invalid character 'q' in string escape code");
    check(
        "1.x",
        "invalid character 'x' after decimal point in numeric literal",
    );
    check(
        "\u{e9}",
        "invalid character 'Ã' looking for beginning of value",
    );
}

#[test]
fn nesting_is_refused_where_serde_refuses_it() {
    for (levels, is_read) in [(DEPTH_MAX, true), (DEPTH_MAX + 1, false)] {
        let text = "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(syntax_error(text.as_bytes()).is_none(), is_read);
        assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), is_read);
    }
    let deep = "[".repeat(1_000_000);
    assert_eq!(
        syntax_error(deep.as_bytes()).as_deref(),
        Some("exceeded max depth")
    );
}

proptest! {
    #[test]
    fn a_syntax_error_is_found_exactly_where_serde_finds_one(text in r#"[\[\]{}:,"a1tn\\. -]{0,16}"#) {
        let ours = syntax_error(text.as_bytes()).is_none();
        let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert_eq!(ours, theirs);
    }
}
