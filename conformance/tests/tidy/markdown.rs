//! Markdown as far as rules need it: code spans, links and fenced lines, each with its line.

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Code between backticks.
    Span(&'a str),
    /// The target of a link.
    Link(&'a str),
    /// A line of a fenced block, with the language of the block.
    Fenced(&'a str, &'a str),
}

/// The parts of a page with their lines, counted from 1.
pub(crate) fn parts(text: &str) -> Vec<(usize, Part<'_>)> {
    let mut parts = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        match (line.trim_start().strip_prefix("```"), fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) => fence = Some(language.trim()),
            (None, Some(language)) => parts.push((number, Part::Fenced(language, line))),
            (None, None) => parts.extend(inline(line).into_iter().map(|part| (number, part))),
        }
    }
    parts
}

/// The code spans and links of a line.
fn inline(line: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    // Every second piece is code.
    for (place, piece) in line.split('`').enumerate() {
        if place % 2 == 1 {
            parts.push(Part::Span(piece));
        }
    }
    let mut rest = line;
    while let Some((_, after)) = rest.split_once("](") {
        let (target, after) = after.split_once(')').unwrap_or((after, ""));
        parts.push(Part::Link(target));
        rest = after;
    }
    if let Some((_, target)) = line.split_once("]: ").filter(|_| line.starts_with('[')) {
        parts.push(Part::Link(target.trim()));
    }
    parts
}
