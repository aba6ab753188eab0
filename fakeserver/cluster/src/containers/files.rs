//! The files that a container sees: those of its mounted volumes, and some of its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use bytes::Bytes;

/// Files by their absolute paths.
#[derive(Clone, Default)]
pub(crate) struct Files {
    contents: BTreeMap<String, Bytes>,
    /// The mount points, which may be empty.
    folders: BTreeSet<String>,
}

/// The reason why a file is not read. It prints as the C library words it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileError {
    Missing,
    Folder,
}

// === impl Files ===

impl Files {
    /// Adds a file at an absolute path, or replaces it.
    pub(super) fn put(&mut self, path: &str, content: impl Into<Bytes>) {
        self.contents.insert(resolved("/", path), content.into());
    }

    /// Adds a folder, and removes everything below it.
    pub(super) fn mount(&mut self, path: &str) {
        let path = resolved("/", path);
        self.contents.retain(|other, _| !is_within(other, &path));
        self.folders.insert(path);
    }

    /// Reads the file at `path`, seen from `folder`.
    pub(super) fn read(&self, folder: &str, path: &str) -> Result<Bytes, FileError> {
        let path = resolved(folder, path);
        if let Some(content) = self.contents.get(&path) {
            return Ok(content.clone());
        }
        let mut all = self.contents.keys().chain(&self.folders);
        if all.any(|other| is_within(other, &path)) {
            Err(FileError::Folder)
        } else {
            Err(FileError::Missing)
        }
    }

    /// Returns the names in the folder at `path`, seen from `folder`, in their order.
    pub(super) fn names_in(&self, folder: &str, path: &str) -> Vec<&str> {
        let path = resolved(folder, path);
        let prefix = match path.as_str() {
            "/" => 1,
            path => path.len() + 1,
        };
        let all = self.contents.keys().chain(&self.folders);
        let below = all.filter(|other| is_within(other, &path) && **other != path);
        let names: BTreeSet<&str> = below
            .filter_map(|other| other[prefix..].split('/').next())
            .collect();
        names.into_iter().collect()
    }
}

/// Returns a path without `.`, `..` and empty parts, seen from `folder`.
fn resolved(folder: &str, path: &str) -> String {
    let from = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Returns whether a path is `folder` or below it.
fn is_within(path: &str, folder: &str) -> bool {
    let Some(rest) = path.strip_prefix(folder) else {
        return false;
    };
    rest.is_empty() || rest.starts_with('/') || folder == "/"
}

// === impl FileError ===

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "No such file or directory",
            Self::Folder => "Is a directory",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_any_path_to_them() {
        let mut files = Files::default();
        files.mount("/etc/config/");
        files.put("/etc/config/a", "1");
        files.put("/etc/hostname", "h");
        files.mount("/empty");
        assert_eq!(files.read("/", "/etc//config/./a").unwrap(), "1");
        assert_eq!(files.read("/etc", "config/../hostname").unwrap(), "h");
        assert_eq!(files.read("/", "/etc/config"), Err(FileError::Folder));
        assert_eq!(files.read("/", "/empty"), Err(FileError::Folder));
        assert_eq!(files.read("/", "/etc/conf"), Err(FileError::Missing));
        assert_eq!(files.names_in("/", "etc"), ["config", "hostname"]);
        assert_eq!(files.names_in("/", "/"), ["empty", "etc"]);
        assert_eq!(files.names_in("/etc", "config"), ["a"]);
        // A mount hides the former content.
        files.mount("/etc");
        assert_eq!(files.names_in("/", "/etc"), ["config"]);
        assert_eq!(files.read("/", "/etc/config/a"), Err(FileError::Missing));
    }
}
