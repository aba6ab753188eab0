//! Objects and events in protobuf.

use serde::Deserialize;

use super::{
    DecodedItem, Decoder, Frame, ItemContext, Peek, PeekBookmark, bookmark_of, event, malformed,
    protocol,
};
use crate::{
    decode::{peek, status::WireStatus},
    encoding::Syntax,
    list_watch::{ListWatchError, Status, WatchEvent},
    protobuf::{self, Envelope, MessageDeserializer, MessageId, WatchFrame},
};

/// The type of an object, from its envelope.
pub(in crate::decode) struct Type<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// Reads a `Status` in its envelope; `None` if the bytes are something else.
pub(in crate::decode) fn status(bytes: &[u8]) -> Option<Status> {
    let envelope = Envelope::open(bytes).ok()?;
    status_in(&envelope)
}

/// Reads the `Status` that an envelope has.
pub(super) fn status_in(envelope: &Envelope<'_>) -> Option<Status> {
    if !peek::is_status(&envelope.api_version, &envelope.kind) {
        return None;
    }
    let wire: WireStatus = read(protobuf::STATUS, envelope.raw).ok()?;
    Some(wire.into_status())
}

/// Checks and reads a message.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    name: (&'static str, &'static str),
    bytes: &[u8],
) -> Result<T, ListWatchError> {
    let message = protobuf::message_named(name);
    let malformed_message = "a malformed message";
    let bytes =
        protobuf::checked(message, bytes).map_err(|error| malformed(malformed_message, error))?;
    T::deserialize(MessageDeserializer::new(message, &bytes))
        .map_err(|error| malformed(malformed_message, error))
}

/// Reads a bookmark: of an object of any type, the metadata are the first field.
fn bookmark<K>(bytes: &[u8]) -> Result<WatchEvent<K>, ListWatchError> {
    let message = protobuf::message_named(protobuf::PARTIAL_METADATA);
    let bytes = protobuf::checked(message, bytes)
        .map_err(|error| malformed("a malformed bookmark", error))?;
    let peek = PeekBookmark::deserialize(MessageDeserializer::new(message, &bytes))
        .map_err(|error| malformed("a bookmark with malformed metadata", error))?;
    bookmark_of(&peek)
}

// === impl Decoder ===

impl Decoder {
    /// Makes one object of the message that it is, of the type that its envelope says if it has one, or takes it from those
    /// that are held.
    pub(in crate::decode) fn protobuf_object<K>(
        &self,
        bytes: &[u8],
        envelope: Option<Type<'_>>,
        making: &ItemContext<'_, K>,
    ) -> Result<DecodedItem<K>, ListWatchError> {
        let message = self.protobuf_message()?;
        let bytes = protobuf::checked(message, bytes)
            .map_err(|error| malformed("a malformed object", error))?;
        let mut peek = Peek::deserialize(MessageDeserializer::new(message, &bytes))
            .map_err(|error| malformed("an object with malformed metadata", error))?;
        if let Some(envelope) = envelope {
            peek.set_type(envelope.api_version, envelope.kind);
        }
        self.decoded(peek, &bytes, Syntax::Protobuf(message), making)
    }

    /// Decodes one frame of a watch.
    pub(in crate::decode) fn protobuf_event<K>(
        &self,
        frame: &[u8],
        making: &ItemContext<'_, K>,
    ) -> Result<Frame<K>, ListWatchError> {
        let frame = WatchFrame::open(frame)
            .map_err(|error| malformed("a frame that is not an event", error))?;
        let Some(object) = frame.object else {
            return Err(protocol("an event without an object"));
        };
        let envelope = Envelope::open(object)
            .map_err(|error| malformed("an event with a malformed object", error))?;
        let object = |making: &ItemContext<'_, K>| {
            let of = Type {
                api_version: &envelope.api_version,
                kind: &envelope.kind,
            };
            self.protobuf_object(envelope.raw, Some(of), making)
        };
        event(
            &frame.event_type,
            making,
            object,
            || bookmark(envelope.raw),
            || status_in(&envelope),
        )
    }

    fn protobuf_message(&self) -> Result<MessageId, ListWatchError> {
        let message = self.message;
        message.ok_or_else(|| protocol("protobuf of a type that is not built in"))
    }
}
