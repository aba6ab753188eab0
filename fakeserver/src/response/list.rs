//! A list, sent in pieces: it is never one string in memory.

use std::{convert::Infallible, sync::Arc};

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use serde::Serialize;

use super::Encoding;
use crate::storage::StoredObject;

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
}

/// What is left of a list to be sent.
struct Pieces {
    encoding: Encoding,
    /// The head of the list, until it is sent.
    head: Option<String>,
    items: std::vec::IntoIter<Arc<StoredObject>>,
    first: bool,
    done: bool,
}

/// The list of `items`, encoded while it is read.
pub(crate) fn list_body(
    encoding: Encoding,
    metadata: &ListMeta,
    items: Vec<Arc<StoredObject>>,
) -> Body {
    let metadata = serde_json::to_string(metadata).expect("strings and numbers serialize");
    let pieces = Pieces {
        head: Some(encoding.list_head(&metadata)),
        encoding,
        items: items.into_iter(),
        first: true,
        done: false,
    };
    Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)))
}

impl Iterator for Pieces {
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
