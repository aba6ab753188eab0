//! Errors of expressions, with the line and a mark below the position, as a real server prints them.

use super::{parser::ExpressionError, syntax};

/// The number of errors that are printed.
const ERRORS_MAX: usize = 100;
/// The length of a line that is printed with an error.
const LINE_MAX_BYTES: usize = 16_384;

/// Returns the errors of an expression that is not syntactically valid.
pub(super) fn syntax(source: &str, own: &ExpressionError) -> String {
    if own.at.is_none() {
        // Nothing else is looked for in an expression that is too deep.
        return print(source, std::slice::from_ref(own));
    }
    let mut errors = syntax::errors(source);
    if source.is_empty() {
        let at_start = |error: &ExpressionError| format!("ERROR: <input>:1:0: {}", error.message);
        return errors.iter().map(at_start).collect();
    }
    if errors.is_empty() || !own.message.starts_with("Syntax error") {
        // A reserved name, an argument that a macro does not take, or a text for which the limit of steps does not suffice.
        errors.push(own.clone());
        errors.sort_by_key(|error| error.at);
    }
    print(source, &errors)
}

/// Returns errors with positions in characters.
pub(super) fn print(source: &str, errors: &[ExpressionError]) -> String {
    let first = &errors[..errors.len().min(ERRORS_MAX)];
    let printed = first.iter().map(|error| {
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
    let mut printed: Vec<String> = printed.collect();
    if first.len() < errors.len() {
        let others = errors.len() - first.len();
        printed.push(format!("{others} more errors were truncated"));
    }
    printed.join("\n")
}

/// Prints an error with its line, and a mark below its column. Dots and marks are as wide as the characters above.
fn print_error(source: &str, (line, column): (usize, usize), why: &str) -> String {
    let text = source
        .lines()
        .nth(line.saturating_sub(1))
        .unwrap_or_default();
    if text.len() > LINE_MAX_BYTES {
        return format!("ERROR: <input>:{line}:{column}: {why}");
    }
    let text = text.replace('\t', " ");
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
