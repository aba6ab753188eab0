//! Tests of both kinds of selectors that have a syntax of their own.

use proptest::prelude::*;

use super::{FieldSelector, LabelSelector};
use crate::object::Pairs;

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
    fn label_selectors_survive_a_round_trip(text in "[a-c!=<>(), ]{0,24}") {
        if let Ok(selector) = LabelSelector::parse(&text) {
            let printed = selector.to_string();
            prop_assert_eq!(LabelSelector::parse(&printed), Ok(selector), "{}", printed);
        }
    }

    #[test]
    fn field_selectors_survive_a_round_trip(text in "[a-c!=\\\\,]{0,24}") {
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
