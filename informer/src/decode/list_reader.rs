//! The items of a list, in whichever encoding it came.

use bytes::Bytes;

#[cfg(feature = "cbor")]
use super::binary::CborList;
#[cfg(feature = "protobuf")]
use super::binary::ProtobufList;
use super::{Decoder, list_body::ListEnd, list_splitter::ListSplitter};
use crate::{encoding::Encoding, list_watch::ListWatchError};

/// Cuts the items out of a list while it arrives.
#[derive(Debug)]
pub(crate) enum ListReader {
    Json(ListSplitter),
    #[cfg(feature = "protobuf")]
    Protobuf(ProtobufList),
    #[cfg(feature = "cbor")]
    Cbor(CborList),
}

// === impl ListReader ===

impl ListReader {
    pub(crate) fn new(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Json => Self::Json(ListSplitter::default()),
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => Self::Protobuf(ProtobufList::default()),
            #[cfg(feature = "cbor")]
            Encoding::Cbor => Self::Cbor(CborList::default()),
        }
    }

    /// Takes the next bytes of the body, and hands on each item that is complete with them.
    pub(crate) fn push(&mut self, chunk: &Bytes, item: impl FnMut(Bytes)) {
        match self {
            Self::Json(list) => list.push(chunk, item),
            #[cfg(feature = "protobuf")]
            Self::Protobuf(list) => list.push(chunk, item),
            #[cfg(feature = "cbor")]
            Self::Cbor(list) => list.push(chunk, item),
        }
    }

    /// Returns the token of the next page if it came before the items: once, when they begin.
    pub(crate) fn take_token(&mut self, decoder: &Decoder) -> Option<String> {
        match self {
            Self::Json(list) => {
                let beginning = list.take_beginning()?;
                let list = decoder.list_body(&beginning).ok()?;
                list.continue_token().map(str::to_owned)
            }
            #[cfg(feature = "protobuf")]
            Self::Protobuf(list) => list.take_token(decoder),
            // A list has its metadata behind its items.
            #[cfg(feature = "cbor")]
            Self::Cbor(_) => None,
        }
    }

    /// Reads the rest of the list when all of it has come, and hands on the items that were not cut out.
    ///
    /// # Errors
    ///
    /// Those of [`Decoder::list_body`].
    pub(crate) fn finish(
        self,
        decoder: &Decoder,
        mut item: impl FnMut(Bytes),
    ) -> Result<ListEnd, ListWatchError> {
        match self {
            Self::Json(list) => {
                let has_cut = list.has_cut();
                let frame = list.finish();
                let mut list = decoder.list_body(&frame)?;
                // Where the key of the items is written with escapes, none was cut out.
                while let Some(json) = list.next_json().filter(|_| !has_cut) {
                    item(Bytes::copy_from_slice(json.as_bytes()));
                }
                Ok(list.into_end())
            }
            #[cfg(feature = "protobuf")]
            Self::Protobuf(list) => list.finish(decoder),
            #[cfg(feature = "cbor")]
            Self::Cbor(list) => list.finish(decoder),
        }
    }
}
