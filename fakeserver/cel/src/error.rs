//! Errors of expressions, with the line and a mark below the position, as a real server prints them.

use super::{parser::ExpressionError, syntax};

/// Returns the errors of an expression that is not syntactically valid.
pub(super) fn syntax(source: &str, own: &ExpressionError) -> String {
    let mut errors = syntax::errors(source);
    if source.is_empty() {
        let at_start = |error: &ExpressionError| format!("ERROR: <input>:1:0: {}", error.message);
        return errors.iter().map(at_start).collect();
    }
    if !own.message.starts_with("Syntax error") {
        // A reserved name, or an argument that a macro does not take.
        errors.push(own.clone());
        errors.sort_by_key(|error| error.at);
    }
    print(source, &errors)
}

/// Returns errors with positions in characters.
pub(super) fn print(source: &str, errors: &[ExpressionError]) -> String {
    let printed = errors.iter().map(|error| {
        let Some(at) = error.at else {
            return format!("ERROR: <input>:-1:0: {}", error.message);
        };
        let (mut line, mut column) = (1, 1);
        for letter in source.chars().take(at) {
            if letter == '\n' {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
        }
        print_error(source, (line, column), &error.message)
    });
    printed.collect::<Vec<_>>().join("\n")
}

/// Prints an error with its line, and a mark below its column. Dots and marks are as wide as the characters above.
fn print_error(source: &str, (line, column): (usize, usize), why: &str) -> String {
    let text = source
        .lines()
        .nth(line.saturating_sub(1))
        .unwrap_or_default()
        .replace('\t', " ");
    let mut marks = String::new();
    for letter in text.chars().take(column.saturating_sub(1)) {
        marks.push(if letter.is_ascii() { '.' } else { '．' });
    }
    let marked = text.chars().nth(column.saturating_sub(1));
    marks.push(if marked.is_none_or(|letter| letter.is_ascii()) {
        '^'
    } else {
        '＾'
    });
    format!("ERROR: <input>:{line}:{column}: {why}\n | {text}\n | {marks}")
}
