//! A body of a watch in JSON, cut into its lines, and what a line says.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use fakeserver::faults::EventType;
use serde::{Deserialize, de::IgnoredAny};

/// The maximum length of a line. An object has 3 MiB at most.
const LINE_MAX_BYTES: usize = 16 << 20;

/// Lines as they come.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: BytesMut,
    /// The length of its beginning that has no end of a line.
    searched: usize,
}

/// A line has no end.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of the watch has more than {LINE_MAX_BYTES} bytes")]
pub(super) struct LineTooLong;

/// The facts about a line that rules of faults may need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) event: EventType,
    /// 0 where it brings none.
    pub(super) revision: u64,
    pub(super) is_initial_events_end: bool,
    pub(super) api_version: String,
    pub(super) kind: String,
}

#[derive(Deserialize)]
struct Line<'a> {
    r#type: &'a str,
    #[serde(borrow, default)]
    object: Object<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Object<'a> {
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata<'a> {
    #[serde(borrow)]
    resource_version: Option<Cow<'a, str>>,
    annotations: Option<Annotations>,
}

#[derive(Deserialize)]
struct Annotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    end: Option<IgnoredAny>,
}

// === impl Lines ===

impl Lines {
    /// Takes what has come.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next line that is whole, with its end.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, LineTooLong> {
        let found = self.bytes[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        if let Some(place) = found {
            let end = self.searched + place + 1;
            self.searched = 0;
            return Ok(Some(self.bytes.split_to(end).freeze()));
        }
        self.searched = self.bytes.len();
        if self.searched > LINE_MAX_BYTES {
            return Err(LineTooLong);
        }
        Ok(None)
    }

    /// Returns the bytes without an end of a line.
    pub(super) fn rest(&mut self) -> Bytes {
        self.searched = 0;
        self.bytes.split().freeze()
    }
}

// === impl Fields ===

impl Fields {
    /// Reads `line`, if it is an event.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let line: Line<'_> = serde_json::from_slice(line).ok()?;
        let event = match line.r#type {
            "ADDED" => EventType::Added,
            "MODIFIED" => EventType::Modified,
            "DELETED" => EventType::Deleted,
            "BOOKMARK" => EventType::Bookmark,
            "ERROR" => EventType::Error,
            _ => return None,
        };
        let object = line.object;
        let metadata = object.metadata;
        let version = metadata.resource_version.unwrap_or_default();
        let marks_end = metadata
            .annotations
            .is_some_and(|marks| marks.end.is_some());
        Some(Self {
            event,
            revision: version.parse().unwrap_or_default(),
            is_initial_events_end: event == EventType::Bookmark && marks_end,
            api_version: object.api_version.into_owned(),
            kind: object.kind.into_owned(),
        })
    }
}
