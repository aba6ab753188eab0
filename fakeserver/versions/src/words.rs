//! The words of errors that are not the same in all versions.

use crate::{KubernetesVersion, PerVersion};

/// Changes of words, the latest first: the first version that has the later words, these, the earlier ones, and the field to
/// whose errors the change is limited, if it is.
const CHANGES: &str = include_str!("../data/words.txt");

/// A change of words.
struct Replacement {
    later: &'static str,
    earlier: &'static str,
    field: Option<&'static str>,
}

// === impl KubernetesVersion ===

impl KubernetesVersion {
    /// Changes an error about a field, in the words of [`KubernetesVersion::LATEST`], to those of this version.
    ///
    /// What stands before the byte `start`, the value that a client chose, is left as it is.
    pub fn reword(self, field: &str, text: &mut String, start: usize) {
        static WORDS: PerVersion<Vec<Replacement>> = PerVersion::new();
        for change in WORDS.get_or_init(self, || replacements(self)) {
            if change.field.is_some_and(|only| only != field) {
                continue;
            }
            let found = text
                .get(start..)
                .and_then(|words| words.rfind(change.later));
            if let Some(at) = found.map(|at| start + at) {
                text.replace_range(at..at + change.later.len(), change.earlier);
            }
        }
    }
}

/// Returns the changes that a version does not have yet, in the order in which they are undone.
fn replacements(version: KubernetesVersion) -> Vec<Replacement> {
    let changes = CHANGES.lines().filter_map(|line| {
        let mut parts = line.split('\t');
        let since = parts.next()?.parse::<KubernetesVersion>();
        let since = since.expect("a change of words has a version");
        let change = Replacement {
            later: parts.next()?,
            earlier: parts.next()?,
            field: parts.next(),
        };
        (version < since).then_some(change)
    });
    changes.collect()
}
