//! Heads, bodies and tails fit together.

use super::*;

#[test]
fn pretty_json_is_indented_by_two_and_otherwise_the_same() {
    fn check(json: &str) {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let expected = serde_json::to_string_pretty(&value).unwrap();
        let compact = serde_json::to_string(&value).unwrap();
        assert_eq!(
            String::from_utf8(pretty(compact.as_bytes())).unwrap(),
            expected
        );
    }
    check(r#"{"a":{},"b":[],"c":[1,{"d":null}],"e":"x, {y}: \"[\\"}"#);
    check("[[[]],[{}],\"\\\\\"]");
    check("true");
    assert_eq!(pretty(b"{\"a\":1}\n"), b"{\n  \"a\": 1\n}\n");
}
