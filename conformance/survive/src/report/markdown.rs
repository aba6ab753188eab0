//! The report as Markdown, for summaries of CI and comments of pull requests.

use std::fmt::Write as _;

use super::{Report, WRITES, replay_line};

/// Returns the report as Markdown: the campaign, its families, and each broken promise with the line that replays it.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# survive\n\n{}\n\n", literal(&report.conclusion()));
    text.push_str("| | |\n|---|---|\n");
    for (name, fact) in report.facts() {
        writeln!(text, "| {name} | {} |", literal(&fact)).expect(WRITES);
    }
    let lines = report.lines();
    if !lines.is_empty() {
        text.push_str("\n| plans | survive | accepted | break a promise |\n|---|---|---|---|\n");
    }
    for ((_, name), line) in lines {
        let broken = line.total - line.survived - line.accepted;
        let (survived, accepted) = (line.survived, line.accepted);
        writeln!(text, "| {name} | {survived} | {accepted} | {broken} |").expect(WRITES);
    }
    push_list(
        &mut text,
        "Broken without perturbation",
        report.reference.findings.iter().map(ToString::to_string),
    );
    for (place, verdict) in report.failures() {
        let found = verdict.findings.iter().map(ToString::to_string);
        push_list(
            &mut text,
            &verdict.plan.to_string(),
            found.chain(verdict.run_ratio()),
        );
        if let Some(file) = report.replays.get(&place) {
            writeln!(text, "\n    {}", replay_line(report.origin.program, file)).expect(WRITES);
        }
    }
    push_list(&mut text, "Accepted", report.acceptance_lines());
    text
}

/// Adds a list with its title, unless it is empty.
fn push_list(text: &mut String, title: &str, items: impl IntoIterator<Item = String>) {
    let mut items = items.into_iter().peekable();
    if items.peek().is_some() {
        write!(text, "\n## {}\n\n", literal(title)).expect(WRITES);
    }
    for item in items {
        writeln!(text, "- {}", literal(&item)).expect(WRITES);
    }
}

/// Returns a text as one line that means itself.
fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => literal.push_str("&lt;"),
            '&' => literal.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => literal.extend(['\\', letter]),
            letter if letter.is_control() => literal.push(' '),
            letter => literal.push(letter),
        }
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_are_no_markup() {
        let text = "configmaps default/db-*: <b>\n_x_ | y";
        let expected = "configmaps default/db-\\*: &lt;b> \\_x\\_ \\| y";
        assert_eq!(literal(text), expected);
    }
}
