//! Expressions with the errors of syntax that the parser of a real server found in them.

use serde::Deserialize;

use crate::{CompileError, Environment, Program};

/// An expression with its errors: line, column, and words.
#[derive(Debug, Deserialize)]
struct RecordedCase {
    expression: String,
    errors: Vec<String>,
}

#[track_caller]
fn errors(expression: &str) -> Vec<String> {
    let Err(CompileError::Check(printed)) = Program::compile(expression, &Environment::default())
    else {
        panic!("{expression:?} has no errors");
    };
    let lines = printed.lines();
    let errors = lines.filter_map(|line| line.strip_prefix("ERROR: <input>:"));
    errors.map(str::to_owned).collect()
}

#[test]
fn errors_of_syntax_are_those_of_a_real_server() {
    for line in include_str!("syntax_errors.jsonl").lines() {
        let recorded: RecordedCase = serde_json::from_str(line).unwrap();
        let found = errors(&recorded.expression);
        assert_eq!(found, recorded.errors, "{:?}", recorded.expression);
    }
}

#[test]
fn other_errors_stand_among_those_of_syntax() {
    for (expression, expected) in [
        ("'\\udead'", ["1:1: invalid unicode code point"].as_slice()),
        ("if", &["1:1: reserved identifier: if"]),
        (
            "has(a) % )",
            &[
                "1:5: invalid argument to has() macro",
                "1:10: Syntax error: mismatched input ')' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', \
                 NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
            ],
        ),
    ] {
        assert_eq!(errors(expression), expected, "{expression}");
    }
}

#[test]
fn recoveries_have_a_limit() {
    let found = errors(&"[} ".repeat(60));
    let last = found.last().map(String::as_str).unwrap_or_default();
    assert!(
        last.ends_with("Syntax error: error recovery attempt limit exceeded: 30"),
        "{last}"
    );
}

#[test]
fn commas_may_follow_items_but_no_arguments() {
    for expression in ["[,]", "[1,]", "{,}", "{1: 1,}"] {
        assert!(Program::compile(expression, &Environment::default()).is_ok());
    }
    let found = errors("size('a',)");
    assert!(
        found[0].starts_with("1:10: Syntax error: mismatched input ')'"),
        "{found:?}"
    );
    let found = errors("!- false");
    assert_eq!(
        found,
        ["1:4: Syntax error: no viable alternative at input '- false'"]
    );
}

#[test]
fn expressions_are_limited_in_size() {
    let of = |source: &str| Program::compile(source, &Environment::default());
    let text = |length: usize| format!("\"{}\"", "é".repeat(length - 2));
    assert!(of(&text(100_000)).is_ok());
    let expected = "compilation failed: ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, \
                    limit 100000";
    assert_eq!(of(&text(100_001)).unwrap_err().to_string(), expected);
}

#[test]
fn errors_are_limited_in_number_and_length() {
    let of = |source: &str| {
        let refused = Program::compile(source, &Environment::default());
        refused.unwrap_err().to_string()
    };
    let errors = of(&"#".repeat(149));
    assert_eq!(errors.matches("ERROR").count(), 100, "{errors}");
    assert!(
        errors.ends_with("\n50 more errors were truncated"),
        "{errors}"
    );
    let long = of(&format!("#{}", " ".repeat(20_000)));
    assert!(
        long.contains("token recognition error") && !long.contains(" | "),
        "{long}"
    );
}
