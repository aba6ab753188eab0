//! Errors of regular expressions.

/// Returns what Go says of a pattern that is not valid, as far as the error of the crate shows it.
pub fn pattern_problem(pattern: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let known = [
        ("unclosed group", "missing closing )", true),
        ("unopened group", "unexpected )", true),
        ("unclosed character class", "missing closing ]", false),
        (
            "repetition operator missing expression",
            "missing argument to repetition operator",
            false,
        ),
    ];
    let found = known.iter().find(|(ours, ..)| text.contains(ours));
    match found {
        Some((_, theirs, true)) => format!("error parsing regexp: {theirs}: `{pattern}`"),
        Some((ours, theirs, false)) => {
            let part = match *ours {
                "unclosed character class" => pattern.find('[').map(|at| &pattern[at..]),
                _ => pattern.get(..1),
            };
            format!(
                "error parsing regexp: {theirs}: `{}`",
                part.unwrap_or(pattern)
            )
        }
        None => format!("error parsing regexp: invalid or unsupported Perl syntax: `{pattern}`"),
    }
}
