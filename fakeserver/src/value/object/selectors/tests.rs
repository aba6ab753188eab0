//! Tests of the three kinds of selectors.

use proptest::prelude::*;

use super::{FieldSelector, LabelSelector, ShardSelector};
use crate::value::object::Pairs;

fn labels(pairs: &[(&str, &str)]) -> Pairs {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn refused(text: &str) -> String {
    LabelSelector::parse(text)
        .expect_err("the selector is refused")
        .message
}

#[test]
fn labels_are_selected_by_every_operator() {
    let check = |selector: &str, selected: &[&[(&str, &str)]], left: &[&[(&str, &str)]]| {
        let parsed = LabelSelector::parse(selector).unwrap();
        for pairs in selected {
            assert!(
                parsed.matches(&labels(pairs)),
                "{selector} selects {pairs:?}"
            );
        }
        for pairs in left {
            assert!(
                !parsed.matches(&labels(pairs)),
                "{selector} leaves {pairs:?}"
            );
        }
    };
    check("", &[&[], &[("a", "b")]], &[]);
    check("a", &[&[("a", "")]], &[&[]]);
    check("!a", &[&[]], &[&[("a", "")]]);
    check("a=b", &[&[("a", "b")]], &[&[], &[("a", "c")]]);
    check("a==b", &[&[("a", "b")]], &[&[]]);
    check("a=", &[&[("a", "")]], &[&[], &[("a", "c")]]);
    check("a!=b", &[&[], &[("a", "c")]], &[&[("a", "b")]]);
    check(
        "a in (b,c)",
        &[&[("a", "b")], &[("a", "c")]],
        &[&[], &[("a", "d")]],
    );
    check("a in ()", &[&[("a", "")]], &[&[], &[("a", "d")]]);
    check("a in (,b)", &[&[("a", "")], &[("a", "b")]], &[&[]]);
    check("a in (b,,c)", &[&[("a", "")], &[("a", "c")]], &[&[]]);
    check("a notin (b)", &[&[], &[("a", "c")]], &[&[("a", "b")]]);
    check(
        "a>1",
        &[&[("a", "2")]],
        &[&[], &[("a", "1")], &[("a", "x")]],
    );
    check("a<1", &[&[("a", "0")], &[("a", "-5")]], &[&[("a", "1")]]);
    check(
        " a = b , !c ",
        &[&[("a", "b")]],
        &[&[("a", "b"), ("c", "d")]],
    );
    check("in in (in,notin)", &[&[("in", "notin")]], &[&[]]);
}

#[test]
fn bad_label_selectors_are_refused_in_the_words_of_the_api() {
    let check =
        |selector: &str, message: &str| assert_eq!(refused(selector), message, "{selector}");
    check(
        "app in (",
        "unable to parse requirement: found '', expected: ',', ')' or identifier",
    );
    check(
        "a b",
        "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    );
    check(
        "!!a",
        "unable to parse requirement: found '!', expected: identifier",
    );
    check(
        "=a",
        "found '=', expected: !, identifier, or 'end of string'",
    );
    check("a,", "found '', expected: identifier after ','");
    check(
        "a in (b",
        "unable to parse requirement: found '', expected: ',' or ')'",
    );
    check(
        "a in b",
        "unable to parse requirement: found 'b' expected: '('",
    );
    check("a=b c", "found 'c', expected: ',' or 'end of string'");
    check(
        "a>x",
        "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    );
}

#[test]
fn fields_are_selected_by_equality() {
    let parse = |text: &str| FieldSelector::parse(text, |_| Ok(())).unwrap();
    let value = |field: &str| {
        if field == "metadata.name" {
            "a,b=c\\d"
        } else {
            ""
        }
    };
    for selected in [
        "",
        ",",
        "metadata.name=a\\,b\\=c\\\\d",
        "metadata.name==a\\,b\\=c\\\\d",
        "metadata.name!=x,spec.nodeName=",
        "spec.other=",
    ] {
        assert!(parse(selected).matches(value), "{selected}");
    }
    for left in ["metadata.name=a", "spec.nodeName!=", "spec.nodeName=x"] {
        assert!(!parse(left).matches(value), "{left}");
    }
}

#[test]
fn bad_field_selectors_are_refused_in_the_words_of_the_api() {
    let refused = |text: &str| FieldSelector::parse(text, |_| Ok(())).unwrap_err().message;
    assert_eq!(
        refused("garbage"),
        "invalid selector: 'garbage'; can't understand 'garbage'"
    );
    assert_eq!(
        refused("a=b,c"),
        "invalid selector: 'a=b,c'; can't understand 'c'"
    );
}

proptest! {
    #[test]
    fn a_label_selector_is_what_it_prints(text in "[a-c!=<>(), ]{0,24}") {
        if let Ok(selector) = LabelSelector::parse(&text) {
            let printed = selector.to_string();
            prop_assert_eq!(LabelSelector::parse(&printed), Ok(selector), "{}", printed);
        }
    }

    #[test]
    fn a_field_selector_is_what_it_prints(text in "[a-c!=\\\\,]{0,24}") {
        let parse = |text: &str| FieldSelector::parse(text, |_| Ok(()));
        if let Ok(selector) = parse(&text) {
            let printed = selector.to_string();
            prop_assert_eq!(parse(&printed), Ok(selector), "{}", printed);
        }
    }

    #[test]
    fn no_text_makes_a_selector_panic(text in ".{0,40}") {
        let _ = LabelSelector::parse(&text);
        let _ = FieldSelector::parse(&text, |_| Ok(()));
    }
}

#[test]
fn a_selector_of_an_object_is_printed_as_queries_have_it() {
    use serde_json::json;

    let selector = json!({
        "matchLabels": {"b": "1", "a": "2"},
        "matchExpressions": [
            {"key": "c", "operator": "NotIn", "values": ["y", "x"]},
            {"key": "aa", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"},
            {"key": "a", "operator": "In", "values": ["2", "3"]},
        ],
    });
    let printed = super::print_label_selector(&selector);
    assert_eq!(printed, "a=2,a in (2,3),aa,b=1,c notin (x,y),!d");
    let parsed = LabelSelector::parse(&printed).unwrap();
    assert_eq!(parsed.to_string(), printed);
    assert_eq!(super::print_label_selector(&json!({})), "");
}

const LOWER: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const UPPER: &str = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

#[test]
fn a_shard_is_ranges_of_hashes() {
    let [lower, upper] = [LOWER, UPPER].map(|text| ShardSelector::parse(text).unwrap());
    // The hashes begin with cb, af and 85; the one of `pod` with 77.
    for uid in ["", "a", "foobar"] {
        assert!(
            !lower.matches(uid, None) && upper.matches(uid, None),
            "{uid}"
        );
    }
    assert!(lower.matches("pod", None) && !upper.matches("pod", None));
    let narrow = "shardRange(object.metadata.uid, '0xaf63dc4c8601ec8c', '0xaf63dc4c8601ec8d')";
    let narrow = ShardSelector::parse(narrow).unwrap();
    assert!(narrow.matches("a", Some("foobar")) && !narrow.matches("b", Some("a")));
    let by_namespace =
        "shardRange(object.metadata.namespace, '0xaf63dc4c8601ec8c', '0xaf63dc4c8601ec8d')";
    let by_namespace = ShardSelector::parse(by_namespace).unwrap();
    assert!(by_namespace.matches("b", Some("a")) && !by_namespace.matches("a", None));
    assert!(ShardSelector::parse("").unwrap().is_everything());
}

#[test]
fn a_shard_selector_is_echoed_in_one_form() {
    let both = format!("{LOWER} || {UPPER}");
    for (text, echo) in [
        (LOWER.to_owned(), LOWER),
        (
            "  ( shardRange( object . metadata.uid,\"0x0000000000000000\",'0x8000000000000000' ) )"
                .to_owned(),
            LOWER,
        ),
        (both.replace(" || ", "||"), both.as_str()),
        (
            format!("{LOWER} || ({UPPER} || {LOWER})"),
            &format!("{both} || {LOWER}"),
        ),
    ] {
        let parsed = ShardSelector::parse(&text).unwrap();
        assert_eq!(parsed.to_string(), echo, "{text}");
        assert_eq!(ShardSelector::parse(echo).unwrap(), parsed);
    }
    let whole = ShardSelector::parse(&both).unwrap();
    assert!(!whole.is_everything() && whole.matches("any", None));
}

const LOW: &str = "'0x0000000000000000'";
const HIGH: &str = "'0x8000000000000000'";

fn shard_of(arguments: &str) -> String {
    format!("shardRange({arguments})")
}

fn shard_by_uid(start: &str, end: &str) -> String {
    shard_of(&format!("object.metadata.uid, {start}, {end}"))
}

#[track_caller]
fn check_refused_shard(text: &str, error: &str) {
    let refused = ShardSelector::parse(text).unwrap_err();
    let expected = format!("invalid shard selector: {error}");
    assert_eq!(
        (refused.message, refused.code.as_u16()),
        (expected, 500),
        "{text}"
    );
}

#[test]
fn shard_selectors_of_another_form_are_refused_in_the_words_of_the_server() {
    let one = shard_by_uid(LOW, HIGH);
    for (text, error) in [
        (
            " ".to_owned(),
            "empty shard selector is not allowed; omit the parameter for unfiltered lists",
        ),
        (
            shard_of(&format!("object.metadata.name, {LOW}, {HIGH}")),
            "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, object.metadata.namespace",
        ),
        (
            shard_of(&format!("'uid', {LOW}, {HIGH}")),
            "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5",
        ),
        (
            shard_of("object.metadata.uid"),
            "shardRange() requires exactly 3 arguments, got 1",
        ),
        (
            one.replace("shardRange", "other"),
            "unsupported function \"other\"; only shardRange() and || are allowed",
        ),
        (
            format!("{one} && true"),
            "unsupported function \"_&&_\"; only shardRange() and || are allowed",
        ),
        (
            format!("{one} || object"),
            "unexpected expression kind 3; expected shardRange() call or || operator",
        ),
        (
            format!("{one} || {}", one.replace("uid", "namespace")),
            "all shard ranges must use the same field, got \"object.metadata.namespace\" and \"object.metadata.uid\"",
        ),
    ] {
        check_refused_shard(&text, error);
    }
}

#[test]
fn bounds_of_shards_are_refused_in_the_words_of_the_server() {
    for (start, end, error) in [
        ("0", HIGH, "hexStart must be a string literal, got int64"),
        (LOW, "1.5", "hexEnd must be a string literal, got float64"),
        (
            LOW,
            "hex('0')",
            "hexEnd must be a string literal (e.g. '0xff'), got expression kind 1",
        ),
        ("'0'", HIGH, "hexStart must have '0x' prefix, got \"0\""),
        ("'0x'", HIGH, "hexStart: hex value is required after '0x'"),
        (
            "'0x000000000000000000'",
            HIGH,
            "hexStart: hex value too long (18 chars, max 17): \"000000000000000000\"",
        ),
        (
            "'0x0g'",
            HIGH,
            "hexStart: invalid hex character \"g\" in \"0x0g\"",
        ),
        (
            "'0x8'",
            HIGH,
            "hexStart must be a 0x-prefixed 16-digit hex value, got \"0x8\" (did you mean \"0x0000000000000008\"?)",
        ),
        (
            LOW,
            "'0x10000000000000001'",
            "hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x10000000000000001\"",
        ),
        (
            HIGH,
            HIGH,
            "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
        ),
    ] {
        check_refused_shard(&shard_by_uid(start, end), error);
    }
}

#[test]
fn texts_that_are_no_expressions_are_no_shard_selectors() {
    let deep = format!("{}x{}", "(".repeat(10_000), ")".repeat(10_000));
    for text in ["shardRange(", "a b", "'x", "a +", &deep, "{'a': }", "a ? b"] {
        let refused = ShardSelector::parse(text).unwrap_err().message;
        assert!(
            refused.starts_with("invalid shard selector: CEL parse error: "),
            "{refused}"
        );
    }
}
