//! Errors of YAML in the words of a real server, with the lines that it tells.
//!
//! It counts lines from 0, and does not tell the first. Its scanner adds one, its parser does not. The end of a text is on
//! a line of its own.

/// The part that finds an error. Each counts lines in its own way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finder {
    /// Finds what is no token.
    Scanner,
    /// Finds a token in the wrong place.
    Parser,
}

/// Translates an error of YAML.
pub(super) fn in_go_words(error: &str, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.chars().any(is_control) {
        return "yaml: control characters are not allowed".to_owned();
    }
    let (problem, place) = error.rsplit_once(" at line ").unwrap_or((error, ""));
    let mut place = place.split(", column ").map(|number| number.trim().parse());
    let line: usize = place.next().and_then(Result::ok).unwrap_or(1);
    let column: usize = place.next().and_then(Result::ok).unwrap_or(1);
    let problem = match problem.rsplit_once(", ") {
        Some((context, rest)) if context.starts_with("while ") => rest,
        _ => problem,
    };
    if let Some(value) = not_finite(problem) {
        return format!("json: unsupported value: {value}");
    }
    if problem.starts_with("alias references unknown anchor") {
        let name = alias(&text, line, column);
        return format!("yaml: unknown anchor '{name}' referenced");
    }
    let (finder, line, problem) = translate(problem, line - 1, &text);
    let line = match finder {
        Finder::Scanner if line > 0 => line + 1,
        _ => line,
    };
    match line {
        0 => format!("yaml: {problem}"),
        line => format!("yaml: line {line}: {problem}"),
    }
}

/// Returns the finder of a problem, the line of it that counts, from 0, and its name.
fn translate<'a>(problem: &'a str, line: usize, text: &str) -> (Finder, usize, &'a str) {
    const CONTENT: &str = "did not find expected node content";
    use Finder::{Parser, Scanner};
    let (last, end) = ends(text);
    let between = |bracket: Option<char>| match bracket {
        Some('{') => "did not find expected ',' or '}'",
        _ => "did not find expected ',' or ']'",
    };
    match problem {
        "unclosed bracket '{'" | "unclosed bracket '['" => {
            let expected = match text.trim_end().chars().next_back() {
                Some('{' | '[' | ',') => CONTENT,
                _ => between(problem.chars().rev().nth(1)),
            };
            (Parser, end, expected)
        }
        "unclosed quote" => (Scanner, last, "found unexpected end of stream"),
        other if other.starts_with("invalid indentation in multiline quoted scalar") => {
            (Scanner, last, "found unexpected end of stream")
        }
        other if other.starts_with("mismatched bracket '") => {
            let opened = other.chars().nth("mismatched bracket '".len());
            (Parser, line, between(opened))
        }
        other if other.starts_with("illegal placement of ':' indicator") => {
            (Parser, line, between(innermost(text, line)))
        }
        "misplaced bracket" => (Parser, line, CONTENT),
        other if other.starts_with("unexpected EOF while parsing") => (Parser, line, CONTENT),
        other if other.starts_with("invalid trailing content") => {
            (Parser, line, "did not find expected key")
        }
        other if other.starts_with("simple key expected") => {
            let line = if line >= last { end } else { line + 1 };
            (Scanner, line, "could not find expected ':'")
        }
        other if other.starts_with("tabs disallowed") => {
            (Scanner, line, "found character that cannot start any token")
        }
        "found a tab" => {
            let found = "found a tab character that violates indentation";
            (Scanner, tabbed(text).unwrap_or(line), found)
        }
        "a block scalar content cannot start with a tab" => {
            let found = "found a tab character where an indentation space is expected";
            (Scanner, tabbed(text).unwrap_or(line), found)
        }
        "unsupported YAML major version" => (Parser, line, "found incompatible YAML document"),
        // Its words have a slip of the pen.
        "did not find expected hexadecimal number" => {
            (Scanner, line, "did not find expected hexdecimal number")
        }
        other if other.starts_with("did not find expected") => (Parser, line, other),
        other if other.starts_with("unexpected character") => {
            (Scanner, line, "found character that cannot start any token")
        }
        other => (Scanner, line, other),
    }
}

/// Returns the last line of a text, and that of its end.
fn ends(text: &str) -> (usize, usize) {
    let last = text.matches('\n').count();
    let is_open = !text.is_empty() && !text.ends_with('\n');
    (last, last + usize::from(is_open))
}

/// Returns the first line that a tab indents.
fn tabbed(text: &str) -> Option<usize> {
    text.lines().position(|line| {
        let content = line.trim_start_matches([' ', '\t']);
        line[..line.len() - content.len()].contains('\t')
    })
}

/// Returns the last bracket before a line that nothing has closed.
fn innermost(text: &str, line: usize) -> Option<char> {
    let before = text.lines().take(line + 1).flat_map(str::chars);
    let mut opened = Vec::new();
    for c in before {
        match c {
            '[' | '{' => opened.push(c),
            ']' | '}' => {
                opened.pop();
            }
            _ => {}
        }
    }
    opened.pop()
}

/// Returns the name of the alias at a place, which counts from 1.
fn alias(text: &str, line: usize, column: usize) -> String {
    let line = text.lines().nth(line - 1).unwrap_or_default();
    let rest: String = line.chars().skip(column.saturating_sub(1)).collect();
    let name = rest.trim_start_matches('*').chars();
    let is_of_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.take_while(is_of_name).collect()
}

/// Returns a number that JSON does not have, in Go's words.
fn not_finite(problem: &str) -> Option<&'static str> {
    let number = problem.strip_prefix("non-finite float `")?;
    let number = number.split('`').next()?.to_ascii_lowercase();
    Some(match number.trim_start_matches('+') {
        ".inf" => "+Inf",
        "-.inf" => "-Inf",
        _ => "NaN",
    })
}

/// Returns whether a text may not have a character.
fn is_control(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::yaml::parse;

    #[test]
    fn mistakes_are_told_as_a_real_server_tells_them() {
        for (text, expected) in [
            ("a: [", "yaml: line 1: did not find expected node content"),
            ("a: [1, 2", "yaml: line 1: did not find expected ',' or ']'"),
            ("a: {b: c", "yaml: line 1: did not find expected ',' or '}'"),
            (
                "a: [1, 2\n",
                "yaml: line 1: did not find expected ',' or ']'",
            ),
            ("{a: b]", "yaml: did not find expected ',' or '}'"),
            ("a: {b: [c}", "yaml: did not find expected ',' or ']'"),
            ("a: \"x", "yaml: found unexpected end of stream"),
            (
                "a:\n  b: \"x\n\n  y: z",
                "yaml: line 4: found unexpected end of stream",
            ),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(expected.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn other_mistakes_are_told_as_a_real_server_tells_them() {
        for (text, expected) in [
            (
                "a:\n\t- b",
                "yaml: line 2: found character that cannot start any token",
            ),
            (
                "a: b\n\tc: d",
                "yaml: line 2: found a tab character that violates indentation",
            ),
            (
                "x: >\n\ta",
                "yaml: line 2: found a tab character where an indentation space is expected",
            ),
            ("a: *x", "yaml: unknown anchor 'x' referenced"),
            ("a: &x [*y]", "yaml: unknown anchor 'y' referenced"),
            (
                "%YAML 2.0\n---\na: b",
                "yaml: found incompatible YAML document",
            ),
            (
                "key: [a, b\nc: d",
                "yaml: line 1: did not find expected ',' or ']'",
            ),
            (
                "spec:\n  x: [1,2\n  y: 3\n",
                "yaml: line 2: did not find expected ',' or ']'",
            ),
            (
                "k: v\nl: [a,\n  b\n\nm: n\n",
                "yaml: line 4: did not find expected ',' or ']'",
            ),
            ("}", "yaml: did not find expected node content"),
            ("a: [,b]", "yaml: did not find expected node content"),
            (
                "a: \"\\x1\"",
                "yaml: did not find expected hexdecimal number",
            ),
            ("a: \"b\"c", "yaml: did not find expected key"),
            ("- a\n- b\nc", "yaml: line 4: could not find expected ':'"),
            (
                "\ta: b",
                "yaml: found character that cannot start any token",
            ),
            ("a: @b", "yaml: found character that cannot start any token"),
            ("a: .inf", "json: unsupported value: +Inf"),
            ("a: -.inf", "json: unsupported value: -Inf"),
            ("a: \u{1}", "yaml: control characters are not allowed"),
            (
                "a: b: c",
                "yaml: mapping values are not allowed in this context",
            ),
            (
                "a:\n  b: 1\n c: 2",
                "yaml: line 2: did not find expected key",
            ),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(expected.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn only_the_first_document_counts() {
        let read = parse(b"a: b\n---\nc: d\n").unwrap();
        assert_eq!(read, serde_json::json!({"a": "b"}));
    }
}
