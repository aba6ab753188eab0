//! Files that tools leave behind are not tracked.

use crate::{finding::Finding, tree::Tree};

const ENDINGS: [&str; 10] = [
    ".pending-snap",
    ".snap.new",
    ".orig",
    ".rej",
    ".bak",
    ".swp",
    ".tmp",
    ".pyc",
    ".log",
    "~",
];
const FOLDERS: [&str; 4] = ["target", "node_modules", "__pycache__", "mutants.out"];

/// The scratch files of a tree.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let files = tree.files().map(|(path, _)| path);
    let scratch = files.filter(|path| {
        let mut segments = path.split('/');
        ENDINGS.iter().any(|ending| path.ends_with(ending))
            || segments.any(|segment| FOLDERS.contains(&segment))
    });
    scratch
        .map(|path| Finding::new(path, 1, "a scratch file", "remove it"))
        .collect()
}
