//! The words of errors that are not the same in all versions.

use crate::{KubernetesVersion, PerVersion};

/// Changes of words, the latest first: the first version that has the later words, these, and the earlier ones.
const CHANGES: &str = include_str!("../data/words.txt");

/// The later words and the earlier ones, in the order in which they are replaced.
type Replacements = Vec<(&'static str, &'static str)>;

// === impl KubernetesVersion ===

impl KubernetesVersion {
    /// Changes an error in the words of [`KubernetesVersion::LATEST`] to those of this version.
    ///
    /// Of words that occur several times the last ones count: values, which a client chooses, come before them.
    pub fn reword(self, text: &mut String) {
        static WORDS: PerVersion<Replacements> = PerVersion::new();
        for (later, earlier) in WORDS.get_or_init(self, || replacements(self)) {
            if let Some(at) = text.rfind(later) {
                text.replace_range(at..at + later.len(), earlier);
            }
        }
    }
}

fn replacements(version: KubernetesVersion) -> Replacements {
    let changes = CHANGES.lines().filter_map(|line| {
        let (since, words) = line.split_once('\t')?;
        let since: KubernetesVersion = since.parse().expect("a change of words has a version");
        (version < since).then(|| words.split_once('\t'))?
    });
    changes.collect()
}
