//! Objects and events in CBOR.

use std::marker::PhantomData;

use serde::Deserialize;

use super::{
    DecodedItem, Decoder, Frame, ItemContext, Peek, PeekBookmark, bookmark_of, event, malformed,
    protocol,
};
use crate::{
    cbor,
    decode::{peek::Text, status::WireStatus},
    encoding::Syntax,
    list_watch::{ListWatchError, Status},
};

/// An event, of which the object is not read.
#[derive(Default)]
struct WireEvent<'a> {
    event_type: Text<'a>,
    object: Option<&'a [u8]>,
}

/// Reads bytes that are one item.
pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> serde_json::Result<T> {
    cbor::read(bytes, PhantomData)
}

/// Reads a `Status`; `None` if the bytes are something else.
pub(in crate::decode) fn status(bytes: &[u8]) -> Option<Status> {
    let wire: WireStatus = read(bytes).ok()?;
    wire.into_named_status()
}

// === impl WireEvent ===

impl<'a> WireEvent<'a> {
    /// Finds the parts of an event.
    fn find(frame: &'a [u8]) -> serde_json::Result<Self> {
        let mut found = Self::default();
        cbor::each_entry(frame, |key, value| {
            match key {
                "type" => found.event_type = read(value)?,
                "object" => found.object = Some(value),
                _ => {}
            }
            Ok(())
        })?;
        Ok(found)
    }
}

// === impl Decoder ===

impl Decoder {
    /// Makes one object of an item, or takes it from those that are held.
    pub(in crate::decode) fn cbor_object<K>(
        &self,
        bytes: &[u8],
        making: &ItemContext<'_, K>,
    ) -> Result<DecodedItem<K>, ListWatchError> {
        let peek: Peek<'_> =
            read(bytes).map_err(|error| malformed("an object with malformed metadata", error))?;
        let has_type = !peek.kind.is_empty() || !peek.api_version.is_empty();
        let syntax = Syntax::Cbor {
            has_type: has_type || self.is_metadata_only,
        };
        self.decoded(peek, bytes, syntax, making)
    }

    /// Decodes one frame of a watch.
    pub(in crate::decode) fn cbor_event<K>(
        &self,
        frame: &[u8],
        making: &ItemContext<'_, K>,
    ) -> Result<Frame<K>, ListWatchError> {
        let wire = WireEvent::find(frame)
            .map_err(|error| malformed("a frame that is not an event", error))?;
        let Some(object) = wire.object else {
            return Err(match status(frame) {
                Some(status) => status.into(),
                None => protocol("an event without an object"),
            });
        };
        event(
            &wire.event_type,
            making,
            |making| self.cbor_object(object, making),
            || {
                let peek: PeekBookmark<'_> = read(object)
                    .map_err(|error| malformed("a bookmark with malformed metadata", error))?;
                bookmark_of(&peek)
            },
            || status(object),
        )
    }
}
