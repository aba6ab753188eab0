//! The files of paths, and their texts.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{FILE_MAX_BYTES, FILES_MAX, SourceError};

/// The number of levels to which folders may nest.
const DEPTH_MAX: usize = 32;
/// The files of folders that are kustomize's own, and hold no objects. As a path of its own each is read.
const OF_KUSTOMIZE: [&str; 3] = [
    "kustomization.yaml",
    "kustomization.yml",
    "kustomizeconfig.yaml",
];

/// The files that paths name, each once.
#[derive(Debug, Default)]
pub(super) struct FileList {
    pub(super) files: Vec<PathBuf>,
    pub(super) errors: Vec<SourceError>,
    seen: BTreeSet<PathBuf>,
    /// True if the folder that is read has a file.
    has_files: bool,
    is_full: bool,
}

// === impl FileList ===

impl FileList {
    /// Adds a file, or the files of YAML and JSON in a folder and those below it, in the order of their names.
    pub(super) fn add(&mut self, path: &Path) {
        self.has_files = false;
        let before = self.errors.len();
        let is_folder = self.find(path, DEPTH_MAX);
        if is_folder && !self.has_files && before == self.errors.len() {
            self.errors.push(SourceError::Empty {
                path: path.to_owned(),
            });
        }
    }

    /// Adds what is at a path, and returns whether that is a folder.
    fn find(&mut self, path: &Path, depth: usize) -> bool {
        match fs::metadata(path) {
            Ok(found) if !found.is_dir() => {
                self.add_file(path);
                false
            }
            Ok(_) => {
                self.add_folder(path, depth);
                true
            }
            Err(source) => {
                self.add_error(path, source);
                false
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        self.has_files = true;
        if self.seen.len() >= FILES_MAX {
            // Said once.
            if !self.is_full {
                self.is_full = true;
                self.errors.push(SourceError::TooMany {
                    path: path.to_owned(),
                });
            }
            return;
        }
        // A file may be named, and be in a folder that is named as well.
        let own = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.seen.insert(own) {
            self.files.push(path.to_owned());
        }
    }

    fn add_folder(&mut self, path: &Path, depth: usize) {
        if depth == 0 {
            self.errors.push(SourceError::TooDeep {
                path: path.to_owned(),
            });
            return;
        }
        let entries = fs::read_dir(path).and_then(|entries| {
            let paths = entries.map(|entry| entry.map(|entry| entry.path()));
            paths.collect::<io::Result<Vec<PathBuf>>>()
        });
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(source) => return self.add_error(path, source),
        };
        entries.sort();
        for entry in entries {
            if self.is_full {
                return;
            }
            if entry.is_dir() || is_manifest(&entry) {
                self.find(&entry, depth - 1);
            }
        }
    }

    fn add_error(&mut self, path: &Path, source: io::Error) {
        self.errors.push(SourceError::NotRead {
            path: path.to_owned(),
            source,
        });
    }
}

/// Reads a file.
///
/// # Errors
///
/// It cannot be read, or is larger than the limit.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    let opened = File::open(path).map_err(|source| SourceError::NotRead {
        path: path.to_owned(),
        source,
    })?;
    read_all(path, opened)
}

/// Reads a stream to its end.
///
/// # Errors
///
/// It cannot be read, or is longer than the limit.
pub(super) fn read_all(path: &Path, stream: impl Read) -> Result<Vec<u8>, SourceError> {
    let mut text = Vec::new();
    let limit = FILE_MAX_BYTES as u64 + 1;
    let read = stream.take(limit).read_to_end(&mut text);
    read.map_err(|source| SourceError::NotRead {
        path: path.to_owned(),
        source,
    })?;
    if text.len() > FILE_MAX_BYTES {
        return Err(SourceError::TooLarge {
            path: path.to_owned(),
        });
    }
    Ok(text)
}

fn is_manifest(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yaml" | "yml" | "json")) && !OF_KUSTOMIZE.iter().any(|of| name == *of)
}
