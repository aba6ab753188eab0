//! Texts whose work is out of proportion to their length.

use super::parse;

/// Checks that a text is refused with this error.
fn check(text: &str, expected: &str) {
    let read = parse(text.as_bytes()).map(drop);
    assert_eq!(read, Err(expected.to_owned()));
}

#[test]
fn directives_are_counted() {
    let directive = |number: usize| format!("%TAG !e{number}! tag:example.com,2000:\n");
    let of = |count: usize| (0..count).map(directive).collect::<String>() + "---\na: b\n";
    assert!(parse(of(100).as_bytes()).is_ok());
    let expected = "yaml: line 101: exceeded max of 100 directives and 8192 bytes of them";
    check(&of(101), expected);
    check(&of(100_000), expected);
    let long = format!("%TAG !e! {}\n---\n- !e!a b\n", "x".repeat(9_000));
    let expected = "yaml: line 1: exceeded max of 100 directives and 8192 bytes of them";
    check(&long, expected);
    let within = format!("a: '\n{}'\n", "%\n".repeat(200));
    assert!(parse(within.as_bytes()).is_ok());
}

#[test]
fn bytes_that_aliases_repeat_are_counted() {
    let text = |length: usize, aliases: usize| {
        let list = vec!["*a"; aliases].join(", ");
        format!("a: &a {}\nb: [{list}]\n", "x".repeat(length))
    };
    assert!(parse(text(1_000, 1_000).as_bytes()).is_ok());
    let expected = "yaml: document contains excessive aliasing";
    check(&text(100_000, 1_000), expected);
}
