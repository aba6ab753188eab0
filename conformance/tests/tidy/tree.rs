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
    /// The files of this repository that git tracks or would add; without git, all but what builds leave.
    pub(crate) fn of_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let paths = tracked(&root).unwrap_or_else(|| {
            let mut paths = Vec::new();
            walk(&root, "", &mut paths);
            paths
        });
        // A deleted file is listed until its deletion is staged.
        let files = paths.into_iter().filter_map(|path| {
            let bytes = fs::read(root.join(&path)).ok()?;
            Some((path, String::from_utf8(bytes).unwrap_or_default()))
        });
        Self {
            files: files.collect(),
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

/// The paths that git lists; nothing where there is no git, or no repository, as in an archive of the sources.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let paths = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = paths.split_terminator('\0').map(str::to_owned).collect();
    (!paths.is_empty()).then_some(paths)
}

/// Adds the files below `folder`, a path from `root` that ends with a slash or is empty.
fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) {
    let entries = fs::read_dir(root.join(folder)).expect("a folder can be read");
    for entry in entries {
        let entry = entry.expect("an entry of a folder can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}{name}");
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            paths.push(path);
        } else if ![".git", "target"].contains(&name.as_str()) {
            walk(root, &format!("{path}/"), paths);
        }
    }
}
