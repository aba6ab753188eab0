//! A finding: a place, the broken rule, and the remedy.

use std::fmt::{self, Display, Formatter};

/// A place where a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The path from the repository's root.
    pub(crate) file: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The broken rule.
    pub(crate) what: String,
    /// The remedy.
    pub(crate) remedy: String,
}

// === impl Finding ===

impl Finding {
    /// A finding at `file:line`.
    pub(crate) fn new(
        file: &str,
        line: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            file: file.to_owned(),
            line,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            what,
            remedy,
        } = self;
        write!(f, "{file}:{line}: {what}; {remedy}")
    }
}

/// Asserts that a rule finds nothing.
pub(crate) fn check(rule: &str, findings: &[Finding]) {
    let report: Vec<String> = findings.iter().map(Finding::to_string).collect();
    assert!(report.is_empty(), "{rule}:\n{}", report.join("\n"));
}
