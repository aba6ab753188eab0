//! Turns one frame of a watch into an event.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    DecodedItem, Decoder, ItemContext, malformed,
    peek::{self, PeekBookmark, Text},
    protocol, status,
};
use crate::{
    encoding::Encoding,
    held_objects::HeldObjects,
    list_watch::{ListWatchError, WatchEvent},
    object::ResourceVersion,
};

/// The annotation of the bookmark that ends the initial events of a streaming list; its value is `true`.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, default, rename = "type")]
    event_type: Text<'a>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(borrow, default, rename = "apiVersion")]
    api_version: Text<'a>,
}

/// One frame of a watch.
pub(crate) enum Frame<K> {
    Event(WatchEvent<K>),
    /// An event about an object that is outside of the shard, by the version that it brings.
    OutOfShard(ResourceVersion),
}

/// The change of an object in a watch event.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Added,
    Modified,
    Deleted,
}

// === impl Decoder ===

impl Decoder {
    /// Decodes one frame of a watch.
    ///
    /// # Errors
    ///
    /// The frame is not an event, or is only the beginning of one ([`ListWatchError::Transport`]); the stream is then of no
    /// further use.
    pub fn watch_event<K: DeserializeOwned>(
        &self,
        frame: &[u8],
        held: &dyn HeldObjects<K>,
    ) -> Result<WatchEvent<K>, ListWatchError> {
        match self.watch_event_as(frame, &ItemContext::typed(Some(held)))? {
            Frame::Event(event) => Ok(event),
            Frame::OutOfShard(_) => unreachable!("no shard is asked for"),
        }
    }

    /// The same of a frame in any encoding, made as `making` says.
    pub(crate) fn event_in<K>(
        &self,
        encoding: Encoding,
        frame: &[u8],
        making: &ItemContext<'_, K>,
    ) -> Result<Frame<K>, ListWatchError> {
        match encoding {
            Encoding::Json => self.watch_event_as(frame, making),
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => self.protobuf_event(frame, making),
            #[cfg(feature = "cbor")]
            Encoding::Cbor => self.cbor_event(frame, making),
        }
    }

    fn watch_event_as<K>(
        &self,
        frame: &[u8],
        making: &ItemContext<'_, K>,
    ) -> Result<Frame<K>, ListWatchError> {
        if let Some((change, json)) = change_as_usual(frame)
            && let Ok(frame) = self.change(change, json, making)
        {
            return Ok(frame);
        }
        let wire: WireEvent<'_> = serde_json::from_slice(frame)
            .map_err(|error| malformed("a frame that is not an event", error))?;
        let Some(object) = wire.object else {
            // A proxy, or an old server, answers a watch with the bare status of the failure.
            return match status::parse(frame) {
                Some(status) if peek::is_status(&wire.api_version, &wire.kind) => {
                    Err(status.into())
                }
                _ => Err(protocol("an event without an object")),
            };
        };
        match &*wire.event_type {
            "ADDED" => self.change(Change::Added, object.get(), making),
            "MODIFIED" => self.change(Change::Modified, object.get(), making),
            "DELETED" => self.change(Change::Deleted, object.get(), making),
            "BOOKMARK" => bookmark(object).map(Frame::Event),
            "ERROR" => match status::parse(object.get().as_bytes()) {
                Some(status) => Ok(Frame::Event(WatchEvent::Error(status))),
                None => Err(protocol("an error event without a status")),
            },
            other => Err(protocol(format!("an event of the unknown type {other:?}"))),
        }
    }

    fn change<K>(
        &self,
        change: Change,
        json: &str,
        making: &ItemContext<'_, K>,
    ) -> Result<Frame<K>, ListWatchError> {
        let decoded = self.object(json, &change.making(making))?;
        Ok(change.frame(decoded))
    }
}

// === impl Change ===

impl Change {
    /// Returns how the object of the event is made.
    pub(super) fn making<'a, K>(self, making: &ItemContext<'a, K>) -> ItemContext<'a, K> {
        let held = match self {
            Self::Added | Self::Modified => making.held,
            // What is held is not the object's last state.
            Self::Deleted => None,
        };
        ItemContext { held, ..*making }
    }

    /// Returns the frame of this change of an object.
    pub(super) fn frame<K>(self, decoded: DecodedItem<K>) -> Frame<K> {
        let object = match decoded {
            DecodedItem::Object(object) => object,
            DecodedItem::OutOfShard(version) => return Frame::OutOfShard(version),
        };
        Frame::Event(match self {
            Self::Added => WatchEvent::Added(object),
            Self::Modified => WatchEvent::Modified(object),
            Self::Deleted => WatchEvent::Deleted(object),
        })
    }
}

/// The change and the object of a frame as API servers print them: then one look at the object is enough to check the frame,
/// and to read the metadata.
fn change_as_usual(frame: &[u8]) -> Option<(Change, &str)> {
    let frame = frame.trim_ascii_end().strip_suffix(b"}")?;
    let rest = frame.strip_prefix(b"{\"type\":\"")?;
    let changes = [
        (Change::Modified, &b"MODIFIED\",\"object\":"[..]),
        (Change::Added, b"ADDED\",\"object\":"),
        (Change::Deleted, b"DELETED\",\"object\":"),
    ];
    let mut found = changes.into_iter().filter_map(|(change, name)| {
        let object = rest.strip_prefix(name)?;
        Some((change, str::from_utf8(object).ok()?))
    });
    found.next()
}

fn bookmark<K>(object: &RawValue) -> Result<WatchEvent<K>, ListWatchError> {
    let peek: PeekBookmark<'_> = serde_json::from_str(object.get())
        .map_err(|error| malformed("a bookmark with malformed metadata", error))?;
    bookmark_of(&peek)
}

/// Returns the event of a bookmark.
pub(super) fn bookmark_of<K>(peek: &PeekBookmark<'_>) -> Result<WatchEvent<K>, ListWatchError> {
    if peek.metadata.resource_version.is_empty() {
        return Err(protocol("a bookmark without a version"));
    }
    Ok(WatchEvent::Bookmark {
        resource_version: ResourceVersion::new(&*peek.metadata.resource_version),
        is_end_of_initial_events: peek.metadata.annotations.get(INITIAL_EVENTS_END) == Some("true"),
    })
}
