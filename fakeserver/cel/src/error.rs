//! Errors of expressions, with the line and a mark below the position, as a real server prints them.

use kube_cel::cel::parser::Parser;

use super::parser::ExpressionError;

/// The tokens that begin an expression, as parsers list them.
const START: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, \
    BYTES, IDENTIFIER}";

/// Returns the errors of an expression that is not syntactically valid.
pub(super) fn syntax(source: &str, own: &ExpressionError) -> String {
    if source.is_empty() {
        return format!(
            "ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {START}"
        );
    }
    let parser = Parser::new().enable_optional_syntax(true);
    let is_syntax = own.message.starts_with("Syntax error");
    if is_syntax && let Err(errors) = parser.parse(source) {
        return reworded(source, &errors.to_string()).join("\n");
    }
    // A reserved name, or an argument that a macro does not take.
    print(source, std::slice::from_ref(own))
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

/// Returns the errors of the crate's parser as a real server prints them.
fn reworded(source: &str, printed: &str) -> Vec<String> {
    let errors = printed
        .lines()
        .filter_map(|line| line.strip_prefix("ERROR: <input>:"));
    errors
        .map(|error| {
            let mut parts = error.splitn(3, ':');
            let mut number = || parts.next().and_then(|part| part.parse::<usize>().ok());
            let (line, column) = (number().unwrap_or(1), number().unwrap_or(1));
            let why = parts.next().unwrap_or_default().trim_start();
            let why = match why.split_once(" expecting {<EOF>") {
                Some((found, _)) => format!("{found} expecting <EOF>"),
                None => why.to_owned(),
            };
            print_error(source, (line, column), &why)
        })
        .collect()
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
