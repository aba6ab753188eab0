//! Answers of another version, as differences from a corpus.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use super::{
    file::{Corpus, CorpusError, Line, read_file},
    request::Request,
};

/// The answers of a server to some requests of a corpus: those that differ from the recorded ones.
///
/// A file has a request a line, as a corpus has, without the set-up. `line` is its number in the corpus, which counts the
/// requests from 1. A line `setup_refused` names an object of the set-up that the server does not know.
#[derive(Debug)]
pub struct Overlay {
    path: PathBuf,
    refused: BTreeSet<String>,
    answers: BTreeMap<usize, FileLine>,
}

/// The error of differences that do not fit the corpus. Name the corpus of which they are.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OverlayError {
    /// The file has not the shape of differences.
    #[error(transparent)]
    Unreadable(#[from] CorpusError),
    /// The corpus has fewer requests.
    #[error("{} has an answer to request {number}, but the corpus has {count} requests", path.display())]
    TooFew {
        /// The path of the differences.
        path: PathBuf,
        /// The number of the request.
        number: usize,
        /// The number of requests of the corpus.
        count: usize,
    },
    /// The request of that number is another one.
    #[error("{} has another request {number} than the corpus: {there} instead of {request}", path.display())]
    OtherRequest {
        /// The path of the differences.
        path: PathBuf,
        /// The number of the request.
        number: usize,
        /// The request of the differences, in a line.
        there: String,
        /// The request of the corpus, in a line.
        request: String,
    },
}

/// A line of the file: an answer, or the name of an object.
#[derive(Debug, Deserialize)]
struct FileLine {
    setup_refused: Option<String>,
    line: Option<usize>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    path: String,
    answer: Box<RawValue>,
}

// === impl Overlay ===

impl Overlay {
    /// Reads a file; one whose name ends in `.xz` is decompressed.
    ///
    /// # Errors
    ///
    /// The file has not the shape of differences.
    pub fn read(path: &Path) -> Result<Self, OverlayError> {
        let mut overlay = Self {
            path: path.to_owned(),
            refused: BTreeSet::new(),
            answers: BTreeMap::new(),
        };
        for line in read_file(path, FileLine::parse)? {
            if let Some(number) = line.line {
                overlay.answers.insert(number, line);
            } else {
                overlay.refused.extend(line.setup_refused);
            }
        }
        Ok(overlay)
    }

    /// Replaces the answers of a corpus by these, and removes what the server refuses from its set-up.
    ///
    /// # Errors
    ///
    /// These are differences from another corpus.
    pub fn apply(mut self, corpus: &mut Corpus) -> Result<(), OverlayError> {
        corpus.lines.retain(|line| match line {
            Line::SetUp(set_up) => !set_up
                .key
                .as_ref()
                .is_some_and(|key| self.refused.contains(key)),
            Line::Case { .. } => true,
        });
        let mut number = 0;
        for line in &mut corpus.lines {
            let Line::Case { case, answer } = line else {
                continue;
            };
            number += 1;
            let Some(other) = self.answers.remove(&number) else {
                continue;
            };
            if (&other.method, &other.path) != (&case.request.method, &case.request.path) {
                return Err(OverlayError::OtherRequest {
                    path: self.path,
                    number,
                    there: Request::new(other.method, other.path).to_string(),
                    request: case.request.to_string(),
                });
            }
            *answer = other.answer;
        }
        match self.answers.first_key_value() {
            None => Ok(()),
            Some((first, _)) => Err(OverlayError::TooFew {
                number: *first,
                path: self.path,
                count: number,
            }),
        }
    }
}

// === impl FileLine ===

impl FileLine {
    fn parse(text: &str) -> serde_json::Result<Self> {
        let line: Self = serde_json::from_str(text)?;
        if line.line.is_none() && line.setup_refused.is_none() {
            return Err(serde::de::Error::missing_field("line"));
        }
        Ok(line)
    }
}
