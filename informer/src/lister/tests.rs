use super::LabelSelector;
use crate::object::Labels;

fn labels(text: &str) -> Labels {
    let pairs = text.split(',').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap()).collect()
}

#[track_caller]
fn check(selector: &str, matching: &[&str], others: &[&str]) {
    let parsed: LabelSelector = selector.parse().unwrap();
    for text in matching {
        assert!(parsed.matches(&labels(text)), "{selector} selects {text}");
    }
    for text in others {
        assert!(
            !parsed.matches(&labels(text)),
            "{selector} does not select {text}"
        );
    }
    let again: LabelSelector = parsed.to_string().parse().unwrap();
    assert_eq!(again, parsed, "the text of {selector} means the same");
}

#[test]
fn each_operator_selects_what_it_says() {
    check("", &["", "a=1"], &[]);
    check("a", &["a=1", "a="], &["", "b=1"]);
    check("!a", &["", "b=1"], &["a=1"]);
    check("a=1", &["a=1"], &["", "a=2", "b=1"]);
    check("a==1", &["a=1"], &["", "a=2"]);
    check("a!=1", &["", "a=2", "b=1"], &["a=1"]);
    check("a=", &["a="], &["", "a=1"]);
    check("a in (1,2)", &["a=1", "a=2"], &["", "a=3"]);
    check("a in (1,)", &["a=1", "a="], &["", "a=3"]);
    check("a notin (1,2)", &["", "a=3"], &["a=1", "a=2"]);
    check("a>1", &["a=2", "a=10"], &["", "a=1", "a=x"]);
    check("a<1", &["a=0"], &["", "a=1", "a=x"]);
    check(
        "a<9223372036854775807",
        &["a=1"],
        &["a=9223372036854775808"],
    );
    check("a!=", &["", "a=1"], &["a="]);
    check("a in (1,,2)", &["a=1", "a="], &["", "a=3"]);
    check("a in ( , )", &["a="], &["", "a=1"]);
    check("a notin (,1)", &["", "a=2"], &["a=", "a=1"]);
}

#[test]
fn all_requirements_must_hold() {
    check(
        "a=1,b!=2,!c",
        &["a=1", "a=1,b=3"],
        &["a=1,b=2", "a=1,c=", "b=3"],
    );
}

#[test]
fn spaces_do_not_matter_between_words() {
    check(
        " a = 1 , b in ( x , y ) ",
        &["a=1,b=x", "a=1,b=y"],
        &["a=1"],
    );
}

#[test]
fn keys_may_have_a_prefix_and_be_named_as_operators() {
    check(
        "app.kubernetes.io/name=web",
        &["app.kubernetes.io/name=web"],
        &["name=web"],
    );
    check("in in (in)", &["in=in"], &["in=x"]);
    check("notin", &["notin=1"], &[""]);
}

#[track_caller]
fn check_refused(selector: &str, position: usize, reason: &str) {
    let error = selector.parse::<LabelSelector>().unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot parse label selector {selector:?} at byte {position}: {reason}")
    );
    assert_eq!(error.position(), position);
}

#[test]
fn an_invalid_selector_is_refused_with_a_reason() {
    check_refused(",", 0, "\",\" is not the key of a label");
    check_refused("a,", 2, "found the end, expected a key");
    check_refused("a,,b", 2, "\",\" is not the key of a label");
    check_refused("!", 1, "found the end, expected a key");
    check_refused("!!a", 1, "\"!\" is not the key of a label");
    check_refused("=b", 0, "\"=\" is not the key of a label");
    check_refused(
        "a b",
        2,
        "found \"b\", expected one of '=', '==', '!=', 'in', 'notin', '<', '>', ','",
    );
    check_refused(
        "a)",
        1,
        "found \")\", expected one of '=', '==', '!=', 'in', 'notin', '<', '>', ','",
    );
    check_refused("!a=b", 2, "found \"=\", expected ','");
    check_refused("a=b c", 4, "found \"c\", expected ','");
    check_refused("a=b)", 3, "found \")\", expected ','");
    check_refused("a=(b)", 2, "\"(\" is not the value of a label");
    check_refused("a===b", 3, "\"=\" is not the value of a label");
    check_refused("a in b", 5, "expected '(' after 'in' or 'notin'");
    check_refused("a in", 4, "expected '(' after 'in' or 'notin'");
    check_refused("a in ()", 6, "expected values between '(' and ')'");
    check_refused("a notin ( )", 10, "expected values between '(' and ')'");
    check_refused("a in (b", 7, "found the end, expected ',' or ')'");
    check_refused("a in (b c)", 8, "found \"c\", expected ',' or ')'");
    check_refused("a>x", 2, "\"x\" is not a number that a label can have");
    check_refused("a>-1", 2, "\"-1\" is not a number that a label can have");
    check_refused("a<+1", 2, "\"+1\" is not a number that a label can have");
    check_refused("a>", 2, "found the end, expected a number");
    check_refused("ok, -a=b", 4, "\"-a\" is not the key of a label");
    check_refused("A.b/c", 0, "\"A.b/c\" is not the key of a label");
    check_refused("/c", 0, "\"/c\" is not the key of a label");
    check_refused("a/", 0, "\"a/\" is not the key of a label");
    check_refused("a/b/c", 0, "\"a/b/c\" is not the key of a label");
    check_refused("a=b/c", 2, "\"b/c\" is not the value of a label");
    check_refused("a=é", 2, "\"é\" is not the value of a label");
    // Only these four are spaces; another one is a part of a word.
    check_refused("a\u{a0}", 0, "\"a\\u{a0}\" is not the key of a label");
    check_refused(
        &"x".repeat(64),
        0,
        &format!("{:?} is not the key of a label", "x".repeat(64)),
    );
    let value = format!("a={}", "x".repeat(64));
    let reason = format!("{:?} is not the value of a label", "x".repeat(64));
    check_refused(&value, 2, &reason);
}

#[test]
fn selectors_that_say_the_same_are_equal_and_print_the_same() {
    let check = |text: &str, expected: &str| {
        let selector: LabelSelector = text.parse().unwrap();
        assert_eq!(selector.to_string(), expected, "{text}");
        assert_eq!(selector, expected.parse().unwrap());
    };
    check("b=1, a=2", "a=2,b=1");
    check("!c,a in (z, y, z),b", "a in (y,z),b,!c");
    check("a=1,a==1,a", "a,a=1");
    check("a!=1,a notin (3,)", "a!=1,a notin (,3)");
    check("a in (,)", "a in (,)");
    check("\ta\r\n=\n1 ", "a=1");
    check("a>007", "a>7");
}

#[test]
fn the_clients_own_selectors_are_taken() {
    use kube::core::{Expression, Selector};
    let expressions = [
        Expression::In("a".into(), ["1".into()].into()),
        Expression::NotIn("b".into(), ["2".into()].into()),
        Expression::Equal("c".into(), "3".into()),
        Expression::NotEqual("d".into(), "4".into()),
        Expression::Exists("e".into()),
        Expression::DoesNotExist("f".into()),
    ];
    let selector: Selector = expressions.into_iter().collect();
    let text = selector.to_string();
    assert_eq!(LabelSelector::from(selector), text.parse().unwrap());
    assert!(LabelSelector::everything().is_everything());
}
