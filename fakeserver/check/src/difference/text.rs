//! Differences as text: unified diffs of YAML.

use std::{fmt::Write as _, time::Duration};

use fakeserver_value::yaml;
use serde_json::Value;
use similar::TextDiff;

use super::{ChangeKind, DiffReport, ObjectDiff};

/// The lines around a change.
const CONTEXT_LINES: usize = 3;
/// The time after which the lines of two long objects are compared coarsely.
const COMPARISON_MAX: Duration = Duration::from_secs(5);
/// The file of an object that is on one side only.
const NO_FILE: &str = "/dev/null";
const WRITES: &str = "a string takes what is written";

/// Returns an object as YAML, or an empty text.
pub(super) fn yaml(object: Option<&Value>) -> String {
    object.map(yaml::to_string).unwrap_or_default()
}

// === impl ChangeKind ===

impl ChangeKind {
    /// Returns the word for it: `created`, `deleted` or `changed`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::Changed => "changed",
        }
    }
}

// === impl ObjectDiff ===

impl ObjectDiff {
    /// Returns a line that names the object and its change, and the unified diff. It ends with a line break.
    pub fn unified(&self) -> String {
        let Self { name, kind, .. } = self;
        let mut text = format!("{name} ({}): {}", name.api_version, kind.name());
        if let Some(why) = &self.replaced_because {
            write!(text, ", but not by an update: {why}").expect(WRITES);
        }
        text.push('\n');
        let diff = TextDiff::configure()
            .timeout(COMPARISON_MAX)
            .diff_lines(&self.old, &self.new);
        let mut unified = diff.unified_diff();
        unified.context_radius(CONTEXT_LINES);
        unified.header(
            self.old_file.as_deref().unwrap_or(NO_FILE),
            self.new_file.as_deref().unwrap_or(NO_FILE),
        );
        write!(text, "{unified}").expect(WRITES);
        text
    }
}

// === impl DiffReport ===

impl DiffReport {
    /// Returns the diffs of all objects, and a line that counts them.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for object in &self.objects {
            text.push_str(&object.unified());
            text.push('\n');
        }
        let count = |kind| self.objects.iter().filter(|it| it.kind == kind).count();
        writeln!(
            text,
            "{} created, {} changed, {} deleted, {} unchanged",
            count(ChangeKind::Created),
            count(ChangeKind::Changed),
            count(ChangeKind::Deleted),
            self.unchanged,
        )
        .expect(WRITES);
        text
    }
}
