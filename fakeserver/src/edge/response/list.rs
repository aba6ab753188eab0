//! A list, sent in pieces: as JSON it is never one string in memory.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;

use super::{Encoding, Format};
use crate::{store::StoredObject, value::object::selectors::ShardSelector};

/// A piece of a list is sent when it has become this large.
const CHUNK_BYTES: usize = 64 << 10;

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

/// The part of a collection that a list shows, by which a client sees that the server has understood its selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ShardInfo {
    selector: String,
}

/// The rest of a list that is still to be sent as JSON.
struct JsonPieces {
    encoding: Encoding,
    /// The head of the list, until it is sent.
    head: Option<String>,
    items: std::vec::IntoIter<Arc<StoredObject>>,
    first: bool,
    done: bool,
}

/// The rest of a list that is still to be sent as CBOR.
struct CborPieces {
    encoding: Encoding,
    head: Vec<u8>,
    items: std::vec::IntoIter<Arc<StoredObject>>,
    /// The end of the list, until it is sent.
    tail: Option<Vec<u8>>,
}

/// The list of `items`, encoded while it is read.
///
/// Protobuf says the length of a list before the list: it is encoded as a whole, one item after the other.
pub(crate) fn list_pieces(
    encoding: Encoding,
    metadata: &ListMeta,
    items: Vec<Arc<StoredObject>>,
) -> Box<dyn Iterator<Item = Bytes> + Send> {
    match encoding.format() {
        Format::Protobuf => return Box::new(encoding.protobuf_list(metadata, &items).into_iter()),
        Format::Cbor => return Box::new(CborPieces::new(encoding, metadata, items)),
        Format::Json | Format::Yaml => {}
    }
    let metadata = serde_json::to_string(metadata).expect("strings and numbers serialize");
    if items.is_empty() && encoding.has_null_for_no_items() {
        let list = encoding.list_without_items(&metadata);
        return Box::new(std::iter::once(list.into()));
    }
    Box::new(JsonPieces {
        head: Some(encoding.list_head(&metadata)),
        encoding,
        items: items.into_iter(),
        first: true,
        done: false,
    })
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

// === impl CborPieces ===

impl CborPieces {
    fn new(encoding: Encoding, metadata: &ListMeta, items: Vec<Arc<StoredObject>>) -> Self {
        let metadata = serde_json::to_value(metadata).expect("strings and numbers serialize");
        let (head, tail) = encoding.cbor_list(&metadata, items.len());
        Self {
            encoding,
            head,
            items: items.into_iter(),
            tail: Some(tail),
        }
    }
}

impl Iterator for CborPieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let tail = self.tail.take()?;
        let mut piece = std::mem::take(&mut self.head);
        while piece.len() < CHUNK_BYTES {
            let Some(object) = self.items.next() else {
                piece.extend_from_slice(&tail);
                return Some(piece.into());
            };
            self.encoding.push_cbor_item(&mut piece, &object);
        }
        self.tail = Some(tail);
        Some(piece.into())
    }
}

// === impl JsonPieces ===

impl Iterator for JsonPieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.done {
            return None;
        }
        let mut piece = BytesMut::with_capacity(if self.items.len() > 8 {
            CHUNK_BYTES + CHUNK_BYTES / 8
        } else {
            4 << 10
        });
        if let Some(head) = self.head.take() {
            piece.put_slice(head.as_bytes());
        }
        while piece.len() < CHUNK_BYTES {
            let Some(object) = self.items.next() else {
                self.done = true;
                piece.put_slice(b"]}\n");
                break;
            };
            if !std::mem::take(&mut self.first) {
                piece.put_u8(b',');
            }
            self.encoding.put_item(&mut piece, &object);
        }
        Some(piece.freeze())
    }
}
