//! The report as text: files, and under each its findings.

use std::fmt::Write as _;

use super::versions;
use crate::{
    check::CheckReport,
    finding::{Finding, Severity},
};

/// The fewest columns in which a message is broken into lines.
const MESSAGE_MIN: usize = 30;
const WRITES: &str = "a string takes what is written";

/// The appearance of a text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextStyle {
    /// The columns of the terminal; `usize::MAX` breaks no line.
    pub width: usize,
    /// True for escape sequences of colours.
    pub is_coloured: bool,
}

// === impl TextStyle ===

impl TextStyle {
    /// Creates a style for a terminal of this width, with colours.
    pub fn terminal(width: usize) -> Self {
        Self {
            width,
            is_coloured: true,
        }
    }

    /// Creates a style for files: one line a finding, without colours.
    pub fn plain() -> Self {
        Self {
            width: usize::MAX,
            is_coloured: false,
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.is_coloured {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Returns the report as text: the findings of each file, and a line that counts them.
pub fn text(report: &CheckReport, style: TextStyle) -> String {
    let mut text = finding_lines(&report.findings, &report.versions, style);
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&summary(report));
    text
}

/// Returns findings as text, those of a file under its name. `checked` are the versions that were checked.
pub fn finding_lines(
    findings: &[Finding],
    checked: &[fakeserver_versions::KubernetesVersion],
    style: TextStyle,
) -> String {
    let mut text = String::new();
    for group in findings.chunk_by(|one, other| one.file == other.file) {
        if !text.is_empty() {
            text.push('\n');
        }
        let file = without_control(&group[0].file);
        writeln!(text, "{}", style.paint("1", &file)).expect(WRITES);
        let place = |finding: &Finding| match finding.position {
            Some(position) => position.to_string(),
            None => String::new(),
        };
        let widest = group.iter().map(|finding| place(finding).len()).max();
        for finding in group {
            add_finding(
                &mut text,
                finding,
                (&place(finding), widest.unwrap_or_default()),
                checked,
                style,
            );
        }
    }
    text
}

fn add_finding(
    text: &mut String,
    finding: &Finding,
    (place, widest): (&str, usize),
    checked: &[fakeserver_versions::KubernetesVersion],
    style: TextStyle,
) {
    let severity = finding.severity();
    let code = match severity {
        Severity::Error => "31",
        Severity::Warning => "33",
        Severity::Note => "36",
    };
    let indent = 2 + widest + 2 + "warning".len() + 2;
    let object = finding.object.as_ref();
    let object = object.map_or_else(String::new, |object| format!("{object}: "));
    let held = versions::text(&finding.versions, checked);
    let held = if held.is_empty() {
        held
    } else {
        format!(" (in {held})")
    };
    let message = format!("{object}{}{held} [{}]", finding.text(), finding.rule.id());
    let lines = broken(&message, style.width.saturating_sub(indent));
    let word = style.paint(code, &format!("{:7}", severity.name()));
    for (number, line) in lines.iter().enumerate() {
        if number == 0 {
            writeln!(text, "  {place:widest$}  {word}  {line}").expect(WRITES);
        } else {
            writeln!(text, "{:indent$}{line}", "").expect(WRITES);
        }
    }
}

/// Breaks a message into lines at its spaces and line breaks.
fn broken(message: &str, width: usize) -> Vec<String> {
    let width = width.max(MESSAGE_MIN);
    let mut lines: Vec<String> = Vec::new();
    for paragraph in message.lines() {
        let mut line = String::new();
        let mut length = 0;
        for word in paragraph.split(' ') {
            let word = without_control(word);
            let letters = word.chars().count();
            if length > 0 && length + 1 + letters > width {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(&word);
            length += letters;
        }
        lines.push(line);
    }
    lines
}

/// Returns a text without control characters, which a file can have and a terminal acts on.
fn without_control(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

fn summary(report: &CheckReport) -> String {
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let versions = versions::ranges(&report.versions);
    let found = [Severity::Error, Severity::Warning, Severity::Note]
        .map(|severity| counted(report.count(severity), severity.name()));
    format!(
        "{} in {}, Kubernetes {versions}: {}\n",
        counted(report.object_count(), "object"),
        counted(report.files.len(), "file"),
        found.join(", "),
    )
}
