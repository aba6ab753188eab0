//! YAML as a real server reads it, and what it says of texts that are none.

mod documents;
mod limits;
mod write;

use serde_json::json;

use super::{parse, repeated_keys};

#[test]
fn yaml_errors_have_a_real_servers_words() {
    for (text, expected) in [
        ("a: [", "yaml: line 1: did not find expected node content"),
        ("a: [1, 2", "yaml: line 1: did not find expected ',' or ']'"),
        ("a: {b: c", "yaml: line 1: did not find expected ',' or '}'"),
        (
            "a: [1, 2\n",
            "yaml: line 1: did not find expected ',' or ']'",
        ),
        ("{a: b]", "yaml: did not find expected ',' or '}'"),
        ("a: {b: [c}", "yaml: did not find expected ',' or ']'"),
        ("a: \"x", "yaml: found unexpected end of stream"),
        (
            "a:\n  b: \"x\n\n  y: z",
            "yaml: line 4: found unexpected end of stream",
        ),
    ] {
        assert_eq!(parse(text.as_bytes()), Err(expected.to_owned()), "{text:?}");
    }
}

#[test]
fn other_yaml_errors_have_a_real_servers_words() {
    for (text, expected) in [
        (
            "a:\n\t- b",
            "yaml: line 2: found character that cannot start any token",
        ),
        (
            "a: b\n\tc: d",
            "yaml: line 2: found a tab character that violates indentation",
        ),
        (
            "x: >\n\ta",
            "yaml: line 2: found a tab character where an indentation space is expected",
        ),
        ("a: *x", "yaml: unknown anchor 'x' referenced"),
        ("a: &x [*y]", "yaml: unknown anchor 'y' referenced"),
        (
            "%YAML 2.0\n---\na: b",
            "yaml: found incompatible YAML document",
        ),
        (
            "key: [a, b\nc: d",
            "yaml: line 1: did not find expected ',' or ']'",
        ),
        (
            "spec:\n  x: [1,2\n  y: 3\n",
            "yaml: line 2: did not find expected ',' or ']'",
        ),
        (
            "k: v\nl: [a,\n  b\n\nm: n\n",
            "yaml: line 4: did not find expected ',' or ']'",
        ),
        ("}", "yaml: did not find expected node content"),
        ("a: [,b]", "yaml: did not find expected node content"),
        (
            "a: \"\\x1\"",
            "yaml: did not find expected hexdecimal number",
        ),
        ("a: \"b\"c", "yaml: did not find expected key"),
        ("- a\n- b\nc", "yaml: line 4: could not find expected ':'"),
        (
            "\ta: b",
            "yaml: found character that cannot start any token",
        ),
        ("a: @b", "yaml: found character that cannot start any token"),
        ("a: .inf", "json: unsupported value: +Inf"),
        ("a: -.inf", "json: unsupported value: -Inf"),
        ("a: \u{1}", "yaml: control characters are not allowed"),
        (
            "a: b: c",
            "yaml: mapping values are not allowed in this context",
        ),
        (
            "a:\n  b: 1\n c: 2",
            "yaml: line 2: did not find expected key",
        ),
    ] {
        assert_eq!(parse(text.as_bytes()), Err(expected.to_owned()), "{text:?}");
    }
}

#[test]
fn only_the_first_document_counts() {
    let read = parse(b"a: b\n---\nc: d\n").unwrap();
    assert_eq!(read, json!({"a": "b"}));
}

#[test]
fn scalars_have_the_types_of_yaml_1_1() {
    for (text, expected) in [
        ("a: yes", json!({"a": true})),
        ("a: off", json!({"a": false})),
        ("a: 'yes'", json!({"a": "yes"})),
        ("a: 0777", json!({"a": 511})),
        ("a: 08", json!({"a": 8})),
        ("a: 0x1F", json!({"a": 31})),
        ("a: -0b11", json!({"a": -3})),
        ("a: 1_000", json!({"a": 1000})),
        ("a: 1.0", json!({"a": 1})),
        ("a: .5", json!({"a": 0.5})),
        ("a: 1e999", json!({"a": "1e999"})),
        ("a: 1:20", json!({"a": "1:20"})),
        ("a: 2001-01-01", json!({"a": "2001-01-01"})),
        ("a: 18446744073709551615", json!({"a": u64::MAX})),
        ("a: !!str 1", json!({"a": "1"})),
        ("a: !!float 1", json!({"a": 1})),
        ("a: !!binary aGk=", json!({"a": "hi"})),
        ("a: !own 1", json!({"a": "1"})),
        (
            "1: a\n1.5: b\ntrue: c",
            json!({"1": "a", "1.5": "b", "true": "c"}),
        ),
        ("", json!(null)),
    ] {
        assert_eq!(parse(text.as_bytes()), Ok(expected), "{text:?}");
    }
}

#[test]
fn mappings_are_merged_and_aliases_followed() {
    for (text, expected) in [
        (
            "a: &x {b: c}\nd: *x",
            json!({"a": {"b": "c"}, "d": {"b": "c"}}),
        ),
        ("<<: {a: b, c: d}\na: e", json!({"a": "e", "c": "d"})),
        ("<<: [{a: b}, {a: c, d: e}]", json!({"a": "b", "d": "e"})),
    ] {
        assert_eq!(parse(text.as_bytes()), Ok(expected), "{text:?}");
    }
    for (text, expected) in [
        (
            "<<: a",
            "yaml: map merge requires map or sequence of maps as the value",
        ),
        ("a: &a [*a]", "yaml: anchor 'a' value contains itself"),
        ("? [a]\n: b", "yaml: invalid map key: []interface {}{\"a\"}"),
        (
            "~: {a: 1}",
            "unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface {}{\"a\":1}",
        ),
        ("a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        (
            "a: !!binary '@'",
            "yaml: !!binary value contains invalid base64 data",
        ),
    ] {
        assert_eq!(parse(text.as_bytes()), Err(expected.to_owned()), "{text:?}");
    }
}

#[test]
fn every_duplicate_key_is_reported_with_its_line() {
    let text = "a: b\na: c\nd:\n  1: e\n  1:\n    f\n";
    let expected = "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map\n  line 6: key 1 already set in map";
    assert_eq!(repeated_keys(text.as_bytes()).as_deref(), Some(expected));
    assert_eq!(
        parse(text.as_bytes()),
        Ok(json!({"a": "c", "d": {"1": "f"}}))
    );
}

#[test]
fn texts_that_would_take_too_much_are_refused() {
    let deep = "[".repeat(5_000);
    assert!(parse(deep.as_bytes()).is_err());
    let mut laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in ('b'..='i').zip('a'..) {
        laughs.extend([format!(
            "{name}: &{name} [*{before}, *{before}, *{before}, *{before}, *{before}, *{before}]\n"
        )]);
    }
    let expected = "yaml: document contains excessive aliasing";
    assert_eq!(parse(laughs.as_bytes()), Err(expected.to_owned()));
}
