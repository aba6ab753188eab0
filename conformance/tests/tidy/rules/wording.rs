//! Docs begin with a verb or a noun phrase, and not with a clause that one has to translate first.

use std::collections::BTreeMap;

use crate::{finding::Finding, tree::Tree};

const BEGINNINGS: [&str; 10] = [
    "What", "Who", "How", "Whether", "Where", "Why", "When", "Whence", "Whoever", "Whatever",
];

/// The doc blocks of a tree, and those that begin with a clause.
#[derive(Debug, Default)]
pub(crate) struct Wording {
    pub(crate) block_count: usize,
    pub(crate) findings: Vec<Finding>,
}

// === impl Wording ===

impl Wording {
    /// Reads the doc blocks of all Rust files: consecutive lines of `///` or of `//!`.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut wording = Self::default();
        for (path, text) in tree.of_type("rs") {
            let mut above = None;
            for (number, line) in text.lines().enumerate() {
                let mark = ["///", "//!"]
                    .into_iter()
                    .find(|mark| line.trim_start().starts_with(mark));
                if let Some(mark) = mark.filter(|_| mark != above) {
                    wording.add_block(
                        path,
                        number + 1,
                        line.trim_start().trim_start_matches(mark).trim(),
                    );
                }
                above = mark;
            }
        }
        wording
    }

    /// The share of blocks that begin with a clause, in thousandths, rounded up.
    pub(crate) fn per_mille(&self) -> usize {
        (self.findings.len() * 1000).div_ceil(self.block_count.max(1))
    }

    /// A line for each crate, and for the files with most findings.
    pub(crate) fn report(&self) -> String {
        let (count, per_mille) = (self.findings.len(), self.per_mille());
        let total = format!(
            "{count} of {} doc blocks begin with a clause: {}.{} %",
            self.block_count,
            per_mille / 10,
            per_mille % 10
        );
        let by_crate = self.counts(|file| file.split('/').next().unwrap_or(file));
        let by_file = self.counts(|file| file);
        let lines = by_crate.into_iter().chain(by_file.into_iter().take(40));
        let lines = lines.map(|(name, count)| format!("{count:6} {name}"));
        [total]
            .into_iter()
            .chain(lines)
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn add_block(&mut self, path: &str, line: usize, first_line: &str) {
        self.block_count += 1;
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '\'' || letter == '_';
        let first_word = first_line
            .split(|letter| !is_letter(letter))
            .next()
            .unwrap_or_default();
        if BEGINNINGS.contains(&first_word) {
            let what = format!("docs begin with \"{first_word}\"");
            let remedy = "begin with a verb in the third person, or with a noun phrase";
            self.findings.push(Finding::new(path, line, what, remedy));
        }
    }

    /// Counts the findings by a part of their path, most first.
    fn counts<'a>(&'a self, part: impl Fn(&'a str) -> &'a str) -> Vec<(&'a str, usize)> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(part(&finding.file)).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}
