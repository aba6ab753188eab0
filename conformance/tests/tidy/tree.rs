//! A tree of files: the repository's, or a made-up one.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

/// The text of each file by its path from the root. Files that are not UTF-8 are empty.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

// === impl Tree ===

impl Tree {
    /// The files of this repository that git tracks or would add.
    pub(crate) fn of_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(&root)
            .output()
            .expect("git lists the files of a clone");
        assert!(output.status.success(), "git lists the files of a clone");
        let paths = String::from_utf8(output.stdout).expect("paths are UTF-8");
        let paths = paths.split_terminator('\0');
        // A deleted file is listed until its deletion is staged.
        let files = paths.filter_map(|path| Some((path, fs::read(root.join(path)).ok()?)));
        Self {
            files: files
                .map(|(path, bytes)| {
                    (
                        path.to_owned(),
                        String::from_utf8(bytes).unwrap_or_default(),
                    )
                })
                .collect(),
        }
    }

    /// A tree of these paths and texts.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter();
        Self {
            files: files
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
                .collect(),
        }
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// All paths and texts, in the order of the paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose name ends with `.extension`.
    pub(crate) fn of_type(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| {
            path.rsplit_once('.')
                .is_some_and(|(_, found)| found == extension)
        })
    }

    /// All folders, without a slash at the end.
    pub(crate) fn folders(&self) -> BTreeSet<&str> {
        let mut folders = BTreeSet::new();
        for path in self.files.keys() {
            let slashes = path.match_indices('/');
            folders.extend(slashes.map(|(slash, _)| &path[..slash]));
        }
        folders
    }

    /// True if there is a file or a folder of this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.folders().contains(path)
    }
}
