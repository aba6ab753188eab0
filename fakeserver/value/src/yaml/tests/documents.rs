//! Texts of several documents.

use serde_json::{Value, json};

use crate::yaml::documents;

/// Checks the documents of a text, each with its line.
fn check(text: &str, expected: &[(u64, Value)]) {
    let read = documents(text.as_bytes()).unwrap();
    let read: Vec<_> = read.into_iter().map(|it| (it.line, it.value)).collect();
    assert_eq!(read, expected, "{text:?}");
}

#[test]
fn each_document_is_read_by_itself() {
    let a = || json!({"a": 8});
    check("a: 010\n", &[(1, a())]);
    check(
        "---\na: 010\n---\nb: on\n",
        &[(1, a()), (3, json!({"b": true}))],
    );
    check("# first\n\n---\na: 010\n", &[(1, a())]);
    check("%YAML 1.1\n---\na: 010\n", &[(1, a())]);
    check("--- # comment\na: 010\n---\n\n--- \n# none\n", &[(1, a())]);
    check("--- {a: 010}\n---\t\n- x", &[(1, a()), (2, json!(["x"]))]);
    check("a: 010\n...\nb: 1\n", &[(1, a()), (3, json!({"b": 1}))]);
    check(
        "a: 010\r\n---\r\nb: 1\r\n",
        &[(1, a()), (2, json!({"b": 1}))],
    );
    check("a: |\n  ---\n  b\n", &[(1, json!({"a": "---\nb\n"}))]);
    check("", &[]);
    check("---\n---\n", &[]);
}

#[test]
fn errors_have_the_lines_of_the_whole_text() {
    for (text, expected) in [
        (
            "a: b\n---\nc: d\ne: f: g\n",
            "yaml: line 4: mapping values are not allowed in this context",
        ),
        (
            "a: &x b\n---\nc: *x\n",
            "yaml: document of line 2: unknown anchor 'x' referenced",
        ),
        ("a: *x\n", "yaml: unknown anchor 'x' referenced"),
        (
            "a: b\n---\nc: .inf\n",
            "yaml: document of line 2: json: unsupported value: +Inf",
        ),
    ] {
        assert_eq!(
            documents(text.as_bytes()),
            Err(expected.to_owned()),
            "{text:?}"
        );
    }
}
