//! The files of manifests below paths.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The number of levels to which folders may nest.
const DEPTH_MAX: usize = 32;
/// The files of folders that are kustomize's own, and hold no objects. As a path of its own each is read.
const OF_KUSTOMIZE: [&str; 3] = [
    "kustomization.yaml",
    "kustomization.yml",
    "kustomizeconfig.yaml",
];

/// A path whose files cannot be found. To be mended there; trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    NotRead {
        /// Which one.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There are no manifests in the folder.
    #[error("{} has no files that end in .yaml, .yml or .json", path.display())]
    Empty {
        /// Which folder.
        path: PathBuf,
    },
    /// Folders are nested deeper than the limit, which a cyclic link causes.
    #[error("{} is nested too deep: a link may lead back", path.display())]
    TooDeep {
        /// The path at which reading ended.
        path: PathBuf,
    },
    /// There are more files than the limit.
    #[error("there are more than {max} files, the first of them {}: name fewer folders", path.display())]
    TooMany {
        /// The first file that is left out.
        path: PathBuf,
        /// The limit.
        max: usize,
    },
}

/// The files that paths name, each once, and the paths whose files cannot be found.
#[derive(Debug)]
pub struct FileList {
    /// The files, in the order of their paths as they were added.
    pub files: Vec<PathBuf>,
    /// The reasons why others are missing.
    pub errors: Vec<FileError>,
    files_max: usize,
    seen: BTreeSet<PathBuf>,
    /// True if the folder that is read has a file.
    has_files: bool,
    is_full: bool,
}

// === impl FileList ===

impl FileList {
    /// Creates an empty list that takes so many files.
    pub fn new(files_max: usize) -> Self {
        Self {
            files: Vec::new(),
            errors: Vec::new(),
            files_max,
            seen: BTreeSet::new(),
            has_files: false,
            is_full: false,
        }
    }

    /// Adds a file of any name, or the files of YAML and JSON in a folder and those below it, in the order of their names.
    pub fn add(&mut self, path: &Path) {
        self.has_files = false;
        let before = self.errors.len();
        let is_folder = self.find(path, DEPTH_MAX);
        if is_folder && !self.has_files && before == self.errors.len() {
            self.errors.push(FileError::Empty {
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
        if self.seen.len() >= self.files_max {
            // Said once.
            if !self.is_full {
                self.is_full = true;
                self.errors.push(FileError::TooMany {
                    path: path.to_owned(),
                    max: self.files_max,
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
            self.errors.push(FileError::TooDeep {
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
        self.errors.push(FileError::NotRead {
            path: path.to_owned(),
            source,
        });
    }
}

fn is_manifest(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yaml" | "yml" | "json")) && !OF_KUSTOMIZE.iter().any(|of| name == *of)
}
