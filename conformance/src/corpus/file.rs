//! Files of corpora: lines of JSON, compressed with xz or not.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use lzma_rust2::{XzOptions, XzReader, XzWriter};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use thiserror::Error;

use super::request::{Body, Case, Request, SetUp};

/// The compression level: as small as level 9 with text of this size, in less memory.
const PRESET: u32 = 6;

/// The lines of a file, in order.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Corpus {
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a corpus.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Line {
    /// A request that makes an object.
    SetUp(SetUp),
    /// A dry run or a read, and the normalised answer as JSON.
    Case {
        /// The request.
        case: Case,
        /// The answer, not yet parsed: thousands of parsed ones take much memory.
        answer: Box<RawValue>,
    },
}

/// The error of a file that cannot be read as a corpus. Correct the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// The file cannot be read, or is not compressed as its name says.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The failure.
        #[source]
        source: io::Error,
    },
    /// A line has not the shape of a request.
    #[error("{}, line {number}, is no request of a corpus", path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The number of the line, from 1.
        number: usize,
        /// The failure.
        #[source]
        source: serde_json::Error,
    },
}

/// A line of the file.
#[derive(Deserialize, Serialize)]
struct FileLine {
    #[serde(default, rename = "cat", skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    method: String,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    until: Value,
    #[serde(default, skip_serializing_if = "is_false")]
    setup: bool,
}

// === impl Corpus ===

impl Corpus {
    /// Creates a corpus of these lines.
    pub fn new(lines: Vec<Line>) -> Self {
        Self { lines }
    }

    /// Reads a file; one whose name ends in `.xz` is decompressed.
    ///
    /// # Errors
    ///
    /// The file is no corpus.
    pub fn read(path: &Path) -> Result<Self, CorpusError> {
        read_file(path, Line::parse).map(Self::new)
    }

    /// Reads a compressed corpus from memory; `path` is its name in errors.
    ///
    /// # Errors
    ///
    /// The bytes are no corpus.
    pub fn from_xz(path: &Path, bytes: &[u8]) -> Result<Self, CorpusError> {
        read_lines(path, XzReader::new(bytes, true), Line::parse).map(Self::new)
    }

    /// Returns the content of a file of this name; one that ends in `.xz` is compressed.
    ///
    /// # Errors
    ///
    /// The compression failed.
    pub fn to_bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.to_text());
            text.push('\n');
        }
        if !is_compressed(path) {
            return Ok(text.into_bytes());
        }
        let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(PRESET))?;
        writer.write_all(text.as_bytes())?;
        writer.finish()
    }

    /// Returns the number of lines that are compared.
    pub fn case_count(&self) -> usize {
        let lines = self.lines.iter();
        lines
            .filter(|line| matches!(line, Line::Case { .. }))
            .count()
    }
}

// === impl Line ===

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// The text is no request of a corpus.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        let written: FileLine = serde_json::from_str(text)?;
        let body = match (written.raw, written.body) {
            (Some(raw), _) => Some(Body::Raw(raw)),
            (None, Some(body)) => Some(Body::Json(body.get().to_owned())),
            (None, None) => None,
        };
        let request = Request {
            method: written.method,
            path: written.path,
            headers: written.headers.unwrap_or_default(),
            body,
        };
        if written.setup {
            return Ok(Self::SetUp(SetUp {
                request,
                name: written.name,
                key: written.key,
                until: !matches!(written.until, Value::Null | Value::Bool(false)),
            }));
        }
        let missing = |field| {
            let message = format!("missing field `{field}`");
            <serde_json::Error as serde::de::Error>::custom(message)
        };
        Ok(Self::Case {
            case: Case {
                category: written.category.ok_or_else(|| missing("cat"))?,
                kind: written.kind.ok_or_else(|| missing("kind"))?,
                note: written.note.unwrap_or_default(),
                request,
            },
            answer: written.answer.ok_or_else(|| missing("answer"))?,
        })
    }

    /// Formats the line, without its end.
    pub fn to_text(&self) -> String {
        let written = match self {
            Self::SetUp(set_up) => FileLine {
                name: set_up.name.clone(),
                key: set_up.key.clone(),
                until: if set_up.until {
                    true.into()
                } else {
                    Value::Null
                },
                setup: true,
                ..FileLine::of(&set_up.request)
            },
            Self::Case { case, answer } => FileLine {
                category: Some(case.category.clone()),
                kind: Some(case.kind.clone()),
                note: Some(case.note.clone()),
                answer: Some(answer.clone()),
                ..FileLine::of(&case.request)
            },
        };
        serde_json::to_string(&written).expect("its parts are strings and JSON")
    }
}

// === impl FileLine ===

impl FileLine {
    fn of(request: &Request) -> Self {
        let (body, raw) = match &request.body {
            Some(Body::Json(text)) => (Some(text), None),
            Some(Body::Raw(text)) => (None, Some(text.clone())),
            None => (None, None),
        };
        let body = body.map(|text| RawValue::from_string(text.clone()));
        Self {
            category: None,
            kind: None,
            note: None,
            method: request.method.clone(),
            path: request.path.clone(),
            name: None,
            key: None,
            headers: (!request.headers.is_empty()).then(|| request.headers.clone()),
            body: body.map(|body| body.expect("a body of JSON is JSON")),
            raw,
            answer: None,
            until: Value::Null,
            setup: false,
        }
    }
}

/// Reads the lines of a file, each by `parse`; one whose name ends in `.xz` is decompressed.
pub(super) fn read_file<T>(
    path: &Path,
    parse: impl Fn(&str) -> serde_json::Result<T>,
) -> Result<Vec<T>, CorpusError> {
    let file = fs::File::open(path).map_err(|source| CorpusError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    if is_compressed(path) {
        read_lines(path, XzReader::new(BufReader::new(file), true), parse)
    } else {
        read_lines(path, file, parse)
    }
}

fn read_lines<T>(
    path: &Path,
    source: impl Read,
    parse: impl Fn(&str) -> serde_json::Result<T>,
) -> Result<Vec<T>, CorpusError> {
    let mut lines = Vec::new();
    for (place, text) in BufReader::new(source).lines().enumerate() {
        let text = text.map_err(|source| CorpusError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let line = parse(&text).map_err(|source| CorpusError::Line {
            path: path.to_owned(),
            number: place + 1,
            source,
        })?;
        lines.push(line);
    }
    Ok(lines)
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "xz")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}
