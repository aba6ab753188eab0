//! The report as a terminal shows it, at most 80 columns wide as far as words let it.

use std::fmt;

use super::{Report, counted, masked};
use crate::campaign::Verdict;

/// The width of a line in characters.
const WIDTH: usize = 80;
/// The width of the names of rows.
const NAME: usize = 22;
/// The number of masked fields that are printed; `report.json` has all of them.
const MASKED_TOLD: usize = 5;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_reference(f)?;
        for ((_, name), line) in self.lines() {
            let accepted = match line.accepted {
                0 => String::new(),
                count => format!(", {count} accepted"),
            };
            let (survived, total) = (line.survived, line.total);
            writeln!(f, "{name:NAME$}{survived} of {total} survive{accepted}")?;
            if let Some(verdict) = line.first_failure {
                write_failure(f, verdict)?;
            }
        }
        self.write_accepted(f)?;
        self.write_rest(f)
    }
}

// === impl Report ===

impl Report {
    fn write_reference(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reference = &self.reference;
        let equality = match reference.mask.0.len() {
            0 => "both runs are equal".to_owned(),
            1 => "1 field differs between runs (masked)".to_owned(),
            count => format!("{count} fields differ between runs (masked)"),
        };
        let content = format!(
            "{}, {}, quiet after {:.1} s; {equality}",
            counted(reference.writes.len(), "write"),
            counted(reference.end.object_count(), "object"),
            reference.took.as_secs_f64(),
        );
        write_row(f, "reference", &content)?;
        for field in masked(reference).iter().take(MASKED_TOLD) {
            write_row(f, "", &format!("masked: {field}"))?;
        }
        if reference.writes.is_empty() {
            let warning = "WARNING: the subject wrote nothing that changes the state: nothing can fail at a write of it";
            write_row(f, "", warning)?;
        }
        for resource in &reference.trace.unserved {
            let hint = "--crds names the files of definitions";
            let content = format!("not served, but asked for: {resource}; {hint}");
            write_row(f, "", &content)?;
        }
        for finding in &reference.findings {
            write_row(f, "", &format!("FAILS without perturbation: {finding}"))?;
        }
        Ok(())
    }

    /// Tells what is left out, and which entries of the file match nothing.
    fn write_accepted(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.left_out().count();
        if count > 0 {
            let content = format!("{} left out{}", counted(count, "finding"), self.by_file());
            write_row(f, "accepted", &content)?;
            for (entry, count) in self.accepted() {
                write_wrapped(f, 2, &format!("{entry}, in {}", counted(count, "run")))?;
            }
        }
        let unmatched: Vec<String> = self.unmatched().map(ToString::to_string).collect();
        if !unmatched.is_empty() {
            let entries = match unmatched.len() {
                1 => "1 entry matches".to_owned(),
                count => format!("{count} entries match"),
            };
            let content = format!("{entries} nothing that was found{}", self.by_file());
            write_row(f, "accepted", &content)?;
            for entry in unmatched {
                write_wrapped(f, 2, &entry)?;
            }
        }
        let masks = self.reference.given.pairs().count();
        if masks > 0 {
            let content = format!("{} may differ{}", counted(masks, "field"), self.by_file());
            write_row(f, "masked", &content)?;
            for field in self.unmatched_masks() {
                write_wrapped(f, 2, &format!("{field} differs in no run"))?;
            }
        }
        Ok(())
    }

    fn by_file(&self) -> String {
        let file = self.reference.accepted.file.file_name();
        file.map(|name| format!(", by {}", name.display()))
            .unwrap_or_default()
    }

    fn write_rest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = self.verdicts.iter().filter(|it| it.is_idle).count();
        if idle > 0 {
            let content = format!("{}, whose writes did not come", counted(idle, "plan"));
            write_row(f, "said nothing", &content)?;
        }
        let partition = self.partition();
        if !partition.is_empty() {
            write_row(f, "partition", &partition)?;
        }
        let total = self.verdicts.len();
        if total < self.planned_count {
            let why = if self.interrupted {
                ": interrupted"
            } else {
                ""
            };
            let content = format!("{total} of {}{why}", counted(self.planned_count, "plan"));
            write_row(f, "only run", &content)?;
        }
        writeln!(f, "{}", self.conclusion())
    }

    /// Returns the last line.
    pub fn conclusion(&self) -> String {
        let (failed, total) = (self.failed_count(), self.verdicts.len());
        let but = match self.left_out().next() {
            Some(_) => ", but for what is accepted",
            None => "",
        };
        match (failed, total) {
            (0, _) if !self.is_reference_clean() => {
                "a promise is broken without any perturbation".to_owned()
            }
            (_, 0) if self.planned_count == 0 && self.origin.all_plans.count > 0 => {
                "no plan belongs to this partition".to_owned()
            }
            (_, 0) => "no plan was run".to_owned(),
            (0, 1) => format!("1 plan keeps every promise{but}"),
            (0, _) => format!("{total} plans keep every promise{but}"),
            _ => format!("{failed} of {total} plans break a promise"),
        }
    }
}

/// Writes the plan of a failure, and the first promise that it broke.
fn write_failure(f: &mut fmt::Formatter<'_>, verdict: &Verdict) -> fmt::Result {
    write_wrapped(f, 2, &verdict.plan.to_string())?;
    let more = match verdict.findings.len() {
        ..=1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    write_wrapped(f, 4, &format!("{}{more}", verdict.findings[0]))?;
    match verdict.run_ratio() {
        Some(content) => write_wrapped(f, 4, &content),
        None => Ok(()),
    }
}

/// Writes a row with its name.
fn write_row(f: &mut fmt::Formatter<'_>, name: &str, content: &str) -> fmt::Result {
    write_lines(f, &format!("{name:NAME$}"), NAME, content)
}

/// Writes an indented text.
fn write_wrapped(f: &mut fmt::Formatter<'_>, indent: usize, content: &str) -> fmt::Result {
    write_lines(f, &" ".repeat(indent), indent, content)
}

/// Writes a text after `beginning`, and breaks its lines between words.
fn write_lines(
    f: &mut fmt::Formatter<'_>,
    beginning: &str,
    indent: usize,
    content: &str,
) -> fmt::Result {
    let mut line = beginning.to_owned();
    let mut is_empty = true;
    for word in content.split(' ') {
        let width = line.chars().count() + word.chars().count() + 1;
        if !is_empty && width > WIDTH {
            writeln!(f, "{}", line.trim_end())?;
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(f, "{}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text after a name.
    struct Row<'a>(&'a str);

    impl fmt::Display for Row<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_row(f, "crash", self.0)
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        let long = "configmaps default/".to_owned() + &"x".repeat(90);
        let text = Row(&format!("one {long} {}", "word ".repeat(20))).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("crash                 one configmaps"));
        let is_broken = |line: &&str| line.chars().count() <= WIDTH || line.contains("xxx");
        assert!(lines.len() > 3 && lines.iter().all(is_broken), "{text}");
    }
}
