//! Objects, lists and events in protobuf and in CBOR: the same steps as for JSON, with readers of their own.

#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(feature = "protobuf")]
mod protobuf_list;
#[cfg(feature = "cbor")]
mod cbor;
#[cfg(feature = "cbor")]
mod cbor_list;
mod frames;

#[cfg(test)]
mod tests;

use std::{error::Error, marker::PhantomData};

use serde::{
    Deserializer,
    de::{DeserializeOwned, DeserializeSeed},
};

#[cfg(feature = "cbor")]
pub(super) use self::{cbor::status as cbor_status, cbor_list::CborList, frames::CborFrames};
#[cfg(feature = "protobuf")]
pub(super) use self::{
    frames::ProtobufFrames, protobuf::status as protobuf_status, protobuf_list::ProtobufList,
};
use super::{
    DecodedItem, Decoder, ItemContext,
    form::Document,
    peek::{Peek, PeekBookmark},
    protocol, undecodable,
    watch_event::{Change, Frame, bookmark_of},
};
use crate::{
    encoding::Syntax,
    list_watch::{ListWatchError, Status, WatchEvent},
    object::Object,
    serde_layer::Lengths,
    sync::lock,
};

/// A seed that builds an object of an encoding that says what is nested how.
pub(super) struct Build<'a, K> {
    decoder: &'a Decoder,
    has_type: bool,
    of: PhantomData<K>,
}

/// The meaning of an event.
enum EventMeaning {
    Change(Change),
    Bookmark,
    Error,
}

// === impl Build ===

impl<'a, K> Build<'a, K> {
    pub(super) fn new(decoder: &'a Decoder, syntax: Syntax) -> Self {
        let has_type = match syntax {
            Syntax::Json { has_type } => has_type,
            // Messages do not have the fields.
            #[cfg(feature = "protobuf")]
            Syntax::Protobuf(_) => false,
            #[cfg(feature = "cbor")]
            Syntax::Cbor { has_type } => has_type,
        };
        Self {
            decoder,
            has_type,
            of: PhantomData,
        }
    }
}

impl<'de, K: DeserializeOwned> DeserializeSeed<'de> for Build<'_, K> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<K, D::Error> {
        self.decoder.value(self.has_type, deserializer, None)
    }
}

// === impl EventMeaning ===

impl EventMeaning {
    fn of(event_type: &str) -> Result<Self, ListWatchError> {
        Ok(match event_type {
            "ADDED" => Self::Change(Change::Added),
            "MODIFIED" => Self::Change(Change::Modified),
            "DELETED" => Self::Change(Change::Deleted),
            "BOOKMARK" => Self::Bookmark,
            "ERROR" => Self::Error,
            other => {
                let what = format!("an event of the unknown type {other:?}");
                return Err(protocol(what));
            }
        })
    }
}

// === impl Decoder ===

impl Decoder {
    /// Makes an object that was checked, and whose metadata were read, or takes it from those that are held.
    fn decoded<K>(
        &self,
        peek: Peek<'_>,
        bytes: &[u8],
        syntax: Syntax,
        making: &ItemContext<'_, K>,
    ) -> Result<DecodedItem<K>, ListWatchError> {
        self.check_type(&peek)?;
        let metadata = peek.into_metadata(&mut lock(&self.interner))?;
        if making.shard.is_some_and(|shard| !shard.admits(&metadata)) {
            return Ok(DecodedItem::OutOfShard(metadata.resource_version));
        }
        if let Some(object) = making.held.and_then(|held| held.lookup(&metadata)) {
            return Ok(DecodedItem::Object(Ok(object)));
        }
        let document = Document {
            bytes,
            syntax,
            lengths: &Lengths::default(),
        };
        Ok(DecodedItem::Object(
            match making.form.value(self, &document) {
                Ok(value) => Ok(Object::from_parts(metadata, value)),
                Err(error) => Err(undecodable(metadata, error)),
            },
        ))
    }
}

/// Makes the event of a change, a bookmark or an error, each read by its own function.
fn event<K>(
    event_type: &str,
    making: &ItemContext<'_, K>,
    object: impl FnOnce(&ItemContext<'_, K>) -> Result<DecodedItem<K>, ListWatchError>,
    bookmark: impl FnOnce() -> Result<WatchEvent<K>, ListWatchError>,
    status: impl FnOnce() -> Option<Status>,
) -> Result<Frame<K>, ListWatchError> {
    match EventMeaning::of(event_type)? {
        EventMeaning::Change(change) => Ok(change.frame(object(&change.making(making))?)),
        EventMeaning::Bookmark => bookmark().map(Frame::Event),
        EventMeaning::Error => match status() {
            Some(status) => Ok(Frame::Event(WatchEvent::Error(status))),
            None => Err(protocol("an error event without a status")),
        },
    }
}

fn malformed(what: &str, error: impl Error + Send + Sync + 'static) -> ListWatchError {
    ListWatchError::Protocol {
        what: what.to_owned(),
        source: Some(Box::new(error)),
    }
}
