//! Manifests: the objects in files of YAML or JSON, with the places from which they come.
//!
//! A file has documents, a document is an object or a list, and a list has objects. Each document is read by itself, so that
//! one that is no YAML hides no other one.

mod error;
mod files;
mod documents;
#[cfg(test)]
mod tests;

use std::{
    cell::OnceCell,
    io::Read,
    mem,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use fakeserver_server::store::manifests::FileList;
use fakeserver_value::yaml::{Document, NodeId};
use serde_json::Value;

pub use self::error::SourceError;
use crate::finding::{Finding, ObjectName, Position};

/// The size of a file up to which it is read.
pub const FILE_MAX_BYTES: usize = 64 << 20;
/// The number of files that are read.
pub const FILES_MAX: usize = 100_000;
/// The bytes of a line up to which its characters are counted.
const CHARACTERS_MAX: usize = 4_096;
/// The path that stands for the standard input.
pub const STDIN: &str = "-";
/// The standard input as findings name it.
const STDIN_NAME: &str = "stdin";

/// The manifests of some paths, what is wrong with their texts, and the paths that could not be read.
#[derive(Debug, Default)]
pub struct ManifestSet {
    pub(crate) files: Vec<SourceFile>,
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) findings: Vec<Finding>,
    errors: Vec<SourceError>,
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: Arc<str>,
    pub(crate) text: Bytes,
    /// The beginnings of its lines, once a finding needs them.
    line_starts: OnceCell<Vec<u32>>,
}

/// An object of a file.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// The index of its file.
    pub(crate) file: usize,
    /// The bytes of its document.
    pub(crate) document: Range<usize>,
    /// The places of the object in lists: its index in the outermost one first.
    pub(crate) items: Vec<usize>,
    /// The place of its first byte in the file.
    pub(crate) start: usize,
    pub(crate) object: Value,
    pub(crate) name: Arc<ObjectName>,
}

// === impl ManifestSet ===

impl ManifestSet {
    /// Reads files of any name, the files of YAML and JSON in folders and those below them, and `stdin` for `-`.
    ///
    /// What is no YAML or no object becomes a finding of the check; what cannot be read becomes one of the
    /// [errors](Self::errors), and the other files are read nevertheless. The files that are kustomize's own are left out.
    ///
    /// # Memory
    ///
    /// The texts of all files and the objects in them are kept.
    pub fn read(paths: &[PathBuf], stdin: &mut dyn Read) -> Self {
        let mut set = Self::default();
        let mut list = FileList::new(FILES_MAX);
        for path in paths {
            if path.as_os_str() == STDIN {
                match files::read_all(Path::new(STDIN_NAME), &mut *stdin) {
                    Ok(text) => set.add(STDIN_NAME, text),
                    Err(error) => set.errors.push(error),
                }
                continue;
            }
            list.add(path);
            set.errors
                .extend(list.errors.drain(..).map(SourceError::from));
            for file in mem::take(&mut list.files) {
                match files::read(&file) {
                    Ok(text) => set.add(&file.display().to_string(), text),
                    Err(error) => set.errors.push(error),
                }
            }
        }
        set
    }

    /// Adds the objects of a text, as if it were a file of that name.
    pub fn add(&mut self, name: &str, text: Vec<u8>) {
        let file = self.files.len();
        self.files.push(SourceFile {
            name: name.into(),
            text: text.into(),
            line_starts: OnceCell::new(),
        });
        documents::read(self, file);
    }

    /// Returns the paths that could not be read, with the reasons.
    pub fn errors(&self) -> &[SourceError] {
        &self.errors
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.manifests.len()
    }

    /// Returns whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.manifests.is_empty()
    }

    /// Returns the number of files that were read.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }
}

// === impl SourceFile ===

impl SourceFile {
    /// Returns the position of a byte.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let starts = self.line_starts.get_or_init(|| line_starts(&self.text));
        let line = starts.partition_point(|start| *start as usize <= offset);
        let start = line.checked_sub(1).map_or(0, |line| starts[line] as usize);
        let before = &self.text[start..offset];
        // The columns of a line that nobody reads are those of its bytes.
        let column = if before.len() > CHARACTERS_MAX {
            before.len()
        } else {
            String::from_utf8_lossy(before).chars().count()
        };
        Position {
            line: line.max(1),
            column: column + 1,
        }
    }
}

/// Returns the places at which the lines of a text begin.
fn line_starts(text: &[u8]) -> Vec<u32> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let starts = ends.map(|(end, _)| end + 1);
    [0].into_iter()
        .chain(starts)
        .map(|start| u32::try_from(start).expect("a file has less than 4 GiB"))
        .collect()
}

/// Returns the node of an object in its document: the document itself, or an item of a list.
pub(crate) fn node_of(document: &Document, items: &[usize]) -> Option<NodeId> {
    let mut node = document.root?;
    for item in items {
        node = documents::item(document, node, *item)?;
    }
    Some(node)
}
