//! Turns one frame of a watch into an event.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    Decoder, malformed,
    peek::{self, PeekBookmark, Text},
    protocol, status,
};
use crate::{
    known::Known,
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
        known: &dyn Known<K>,
    ) -> Result<WatchEvent<K>, ListWatchError> {
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
            "ADDED" => Ok(WatchEvent::Added(self.object(object, Some(known))?)),
            "MODIFIED" => Ok(WatchEvent::Modified(self.object(object, Some(known))?)),
            "DELETED" => Ok(WatchEvent::Deleted(self.object(object, None)?)),
            "BOOKMARK" => bookmark(object),
            "ERROR" => match status::parse(object.get().as_bytes()) {
                Some(status) => Ok(WatchEvent::Error(status)),
                None => Err(protocol("an error event without a status")),
            },
            other => Err(protocol(format!("an event of the unknown type {other:?}"))),
        }
    }
}

fn bookmark<K>(object: &RawValue) -> Result<WatchEvent<K>, ListWatchError> {
    let peek: PeekBookmark<'_> = serde_json::from_str(object.get())
        .map_err(|error| malformed("a bookmark with malformed metadata", error))?;
    if peek.metadata.resource_version.is_empty() {
        return Err(protocol("a bookmark without a version"));
    }
    Ok(WatchEvent::Bookmark {
        resource_version: ResourceVersion::new(&*peek.metadata.resource_version),
        is_end_of_initial_events: peek.metadata.annotations.get(INITIAL_EVENTS_END) == Some("true"),
    })
}
