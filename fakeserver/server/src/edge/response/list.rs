//! A list, sent in pieces: as JSON it is never one string in memory.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use fakeserver_value::{object::selectors::ShardSelector, schema::TypeMeta};
use serde::Serialize;

use super::{Encoding, Format, encoding::Representation, object_encoding::unencodable};
use crate::{
    store::StoredObject,
    task::{side_by_side, worker_count},
};

/// A piece of a list is made of objects of this many bytes as JSON.
const CHUNK_BYTES: usize = 64 << 10;
/// The same for converted objects: several pieces are encoded at once, each on a thread.
const MADE_CHUNK_BYTES: usize = 1 << 20;

/// The metadata of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListMeta {
    pub(crate) resource_version: String,
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub(crate) continue_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining_item_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shard_info: Option<ShardInfo>,
}

/// The shard of a collection in a list. It tells a client that the server has applied its `shardSelector`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ShardInfo {
    selector: String,
}

/// The rest of a list that is still to be sent.
struct ListPieces {
    encoding: Encoding,
    /// The beginning of the list, until it is in a chunk.
    head: Vec<u8>,
    is_first: bool,
    items: std::vec::IntoIter<Arc<StoredObject>>,
    /// The end of the list, until it is in a chunk.
    tail: Option<Vec<u8>>,
    /// Pieces that were made beside each other.
    ahead: VecDeque<Bytes>,
}

/// Objects of a list that become a piece, with what stands before and after them.
struct Chunk {
    head: Vec<u8>,
    is_first: bool,
    objects: Vec<Arc<StoredObject>>,
    tail: Vec<u8>,
}

/// Returns the list of `items`, encoded while it is read; by several threads if objects are converted.
///
/// Protobuf has the length of a list before the list: each item is encoded twice, first for its length.
pub(crate) fn list_pieces(
    encoding: Encoding,
    metadata: &ListMeta,
    items: Vec<Arc<StoredObject>>,
) -> Box<dyn Iterator<Item = Bytes> + Send> {
    let (head, tail) = match encoding.format() {
        // Before the first byte: an error can still become the whole response.
        Format::Protobuf => match encoding.protobuf_list(metadata, &items) {
            Ok(ends) => ends,
            Err(error) => return Box::new(std::iter::once(unencodable(&error).into())),
        },
        Format::Cbor => encoding.cbor_list(metadata, items.len()),
        Format::Json | Format::Yaml => {
            let metadata = serde_json::to_string(metadata).expect("strings and numbers serialize");
            if items.is_empty() && encoding.has_null_for_no_items() {
                let list = encoding.list_without_items(&metadata);
                return Box::new(std::iter::once(list.into()));
            }
            (encoding.list_head(&metadata).into(), b"]}\n".to_vec())
        }
    };
    Box::new(ListPieces {
        encoding,
        head,
        is_first: true,
        items: items.into_iter(),
        tail: Some(tail),
        ahead: VecDeque::new(),
    })
}

// === impl Encoding ===

impl Encoding {
    /// The head of a list as JSON, up to its items.
    fn list_head(&self, metadata: &str) -> String {
        if let Some(table) = &self.table {
            return table.head(metadata);
        }
        let mut head = self.before_items(metadata);
        head.push('[');
        head
    }

    /// Returns whether an empty list has `null` as its items: a real server appends to a nil slice in lists of partial
    /// metadata.
    fn has_null_for_no_items(&self) -> bool {
        self.representation == Representation::Metadata
    }

    /// The whole list as JSON if it has no items, and `null` in their place.
    fn list_without_items(&self, metadata: &str) -> String {
        let mut list = self.before_items(metadata);
        list.push_str("null}\n");
        list
    }

    fn before_items(&self, metadata: &str) -> String {
        let TypeMeta { kind, api_version } = self.list_kind();
        format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{metadata},"items":"#)
    }
}

// === impl ShardInfo ===

impl ShardInfo {
    /// Returns the part that `selector` selects; `None` for the whole.
    pub(crate) fn of(selector: &ShardSelector) -> Option<Self> {
        (!selector.is_everything()).then(|| Self {
            selector: selector.to_string(),
        })
    }
}

// === impl ListPieces ===

impl ListPieces {
    /// Takes objects of at least `bytes` bytes of JSON, or all that are left; `None` behind the end of the list.
    fn chunk(&mut self, bytes: usize) -> Option<Chunk> {
        let tail = self.tail.take()?;
        let mut chunk = Chunk {
            head: std::mem::take(&mut self.head),
            is_first: std::mem::take(&mut self.is_first),
            objects: Vec::new(),
            tail: Vec::new(),
        };
        let mut length = 0;
        while length < bytes {
            let Some(object) = self.items.next() else {
                chunk.tail = tail;
                return Some(chunk);
            };
            length += object.json_length();
            chunk.objects.push(object);
        }
        self.tail = Some(tail);
        Some(chunk)
    }
}

impl Iterator for ListPieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.ahead.is_empty() {
            let (count, bytes) = if self.encoding.is_plain() {
                // Copies of stored bytes are faster than any hand-over to another thread.
                (1, CHUNK_BYTES)
            } else {
                (worker_count(), MADE_CHUNK_BYTES)
            };
            let chunks: Vec<Chunk> = std::iter::from_fn(|| self.chunk(bytes))
                .take(count)
                .collect();
            // As many as there are threads, and no more: a slow reader must not make the server hold the whole list
            // encoded.
            let made = side_by_side(&chunks, |chunk| self.encoding.chunk(chunk));
            self.ahead.extend(made);
        }
        self.ahead.pop_front()
    }
}

// === impl Encoding ===

impl Encoding {
    /// Encodes some items of a list.
    fn chunk(&self, chunk: &Chunk) -> Bytes {
        let objects = chunk.objects.iter();
        let length: usize = objects.clone().map(|object| object.json_length()).sum();
        let mut out = Vec::with_capacity(chunk.head.len() + length + length / 8 + chunk.tail.len());
        out.extend_from_slice(&chunk.head);
        match self.format() {
            Format::Protobuf => {
                let mut encoder = self.item_encoder().expect("the length was computed");
                for object in objects {
                    let pushed = self.push_protobuf_item(&mut encoder, object, &mut out);
                    pushed.expect("its length was computed");
                }
            }
            Format::Cbor => objects.for_each(|object| self.push_cbor_item(&mut out, object)),
            Format::Json | Format::Yaml => {
                for (place, object) in objects.enumerate() {
                    if place > 0 || !chunk.is_first {
                        out.push(b',');
                    }
                    self.put_item(&mut out, object);
                }
            }
        }
        out.extend_from_slice(&chunk.tail);
        out.into()
    }
}
