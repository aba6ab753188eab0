//! Values that are written as Kubernetes writes them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::yaml::{parse, to_string};

#[test]
fn texts_that_mean_something_else_are_quoted() {
    for (value, expected) in [
        (json!("a"), "a\n"),
        (json!("yes"), "\"yes\"\n"),
        (json!("010"), "\"010\"\n"),
        (json!("08"), "\"08\"\n"),
        (json!("1e3"), "\"1e3\"\n"),
        (json!("1_0"), "\"1_0\"\n"),
        (json!("0o400"), "\"0o400\"\n"),
        (json!("1:20"), "\"1:20\"\n"),
        (json!("2001-01-01"), "\"2001-01-01\"\n"),
        (json!("<<"), "\"<<\"\n"),
        (json!("null"), "\"null\"\n"),
        (json!(""), "\"\"\n"),
        (json!("a: b"), "'a: b'\n"),
        (json!("a\nb\n"), "|\n  a\n  b\n"),
        (json!("a\nb"), "|-\n  a\n  b\n"),
        (json!("a\n\n"), "|+\n  a\n\n"),
        (json!("ä"), "ä\n"),
        (json!(null), "null\n"),
        (json!(1), "1\n"),
        (json!(0.5), "0.5\n"),
        (json!(1e21), "1e+21\n"),
        (json!({}), "{}\n"),
        (json!([]), "[]\n"),
    ] {
        assert_eq!(to_string(&value), expected);
    }
}

#[test]
fn collections_are_in_block_style() {
    let value = json!({"b": [{"c": 1, "d": [2]}], "a10": {}, "a2": [], "a": "x ".repeat(50) + "x"});
    let words = ["x"; 40].join(" ");
    let rest = ["x"; 11].join(" ");
    let expected = format!("a: {words}\n  {rest}\na2: []\na10: {{}}\nb:\n- c: 1\n  d:\n  - 2\n");
    assert_eq!(to_string(&value), expected);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~\n\täß☃]{0,12}".prop_map(Value::from),
        "(0[xob]?)?[0-9_:.e+-]{1,6}|yes|~|on|N|'.*|#.*|%.*|@".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z0-9./ -]{0,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_as_the_same_value(value in values()) {
        let text = to_string(&value);
        prop_assert_eq!(parse(text.as_bytes()), Ok(value), "{}", text);
    }
}
