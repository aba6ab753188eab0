//! Stage 1: bytes of a response become list items and watch events, item by item.
//!
//! Nothing here waits or decides. [`FrameSplitter`] cuts a stream into frames at any chunk boundary, [`Decoder`] turns one
//! frame into a [`WatchEvent`](crate::list_watch::WatchEvent) and takes one body apart as a [`ListBody`]. Items are cut out of
//! a list while it arrives, by `list_splitter`. `binary` does the same for protobuf and CBOR; `frames` and `list_reader` choose
//! by the encoding of an answer.
//!
//! An object is first *peeked* at: its metadata is read, its arrays are measured, and the rest is skipped; the step
//! that builds it checks all of it. If [`HeldObjects`] holds exactly that version, the handle that is held is used and
//! nothing is decoded; neither is one that is outside of the shard that is wanted. An object whose metadata is sound but whose content its type refuses is a [`DecodeError`] beside
//! the others; a body that is not what the API promises is an error of the whole response.
//!
//! # Memory
//!
//! A list needs the decoded objects, and of its body what was not decoded yet; no tree of JSON values is built in between,
//! and no object keeps the body alive. Vectors of objects and strings are as long as they need to be. A watch needs the
//! largest frame once.

mod frame;
mod outline;
mod intern;
mod peek;
mod typed;
mod form;
mod status;
mod watch_event;
mod list_splitter;
mod list_body;
#[cfg(any(feature = "protobuf", feature = "cbor"))]
mod binary;
mod frames;
mod list_reader;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{
    Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::value::RawValue;

use self::{form::Document, intern::Interner, peek::Peek};
#[cfg(feature = "protobuf")]
use crate::protobuf::{self, MessageId};
use crate::{
    encoding::{Encoding, Syntax},
    field_path::{DroppedFields, FieldPath},
    held_objects::HeldObjects,
    list_watch::{ArrivedObject, ListWatchError},
    object::{DecodeError, Metadata, Object, ResourceVersion},
    serde_layer::{Layered, Lengths, Rules},
    shard::ShardFilter,
    sync::{Mutex, lock},
};

#[cfg(feature = "compact")]
pub(crate) use self::form::PackedForm;
pub use self::status::status_of_answer;
pub(crate) use self::{
    form::{Form, TypedForm},
    frames::Frames,
    list_body::ListEnd,
    list_reader::ListReader,
    watch_event::Frame,
};
#[cfg(feature = "unstable-stages")]
pub use self::{
    frame::{FRAME_SIZE_MAX_BYTES, FrameSplitter},
    list_body::ListBody,
};

/// Decodes the answers for one resource, whose names it knows.
#[derive(Clone, Debug)]
pub struct Decoder {
    api_version: String,
    kind: String,
    is_metadata_only: bool,
    /// The fields that are skipped in every object.
    dropped: Vec<FieldPath>,
    /// The strings that objects have in common.
    interner: Arc<Mutex<Interner>>,
    /// The message of its objects in protobuf, if they are built in.
    #[cfg(feature = "protobuf")]
    message: Option<MessageId>,
}

/// The form of the objects that are made, those that are held already, and the part that is wanted.
pub(crate) struct ItemContext<'a, K> {
    pub(crate) held: Option<&'a dyn HeldObjects<K>>,
    pub(crate) form: &'a dyn Form<K>,
    pub(crate) shard: Option<&'a ShardFilter>,
}

/// An object, unless it is not wanted.
pub(crate) enum DecodedItem<K> {
    Object(ArrivedObject<K>),
    /// The object is outside of the shard; its version.
    OutOfShard(ResourceVersion),
}

// === impl Decoder ===

impl Decoder {
    /// Decodes whole objects of `kind` (as in `Pod`) in `api_version` (as in `apps/v1`).
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>) -> Self {
        let (api_version, kind) = (api_version.into(), kind.into());
        Self {
            #[cfg(feature = "protobuf")]
            message: protobuf::message_of_kind(&api_version, &kind),
            api_version,
            kind,
            is_metadata_only: false,
            dropped: Vec::new(),
            interner: Arc::default(),
        }
    }

    /// Skips what these paths lead to, as if it had not been sent; metadata of the handle are read all the same.
    #[must_use]
    pub fn without_fields(mut self, paths: impl IntoIterator<Item = FieldPath>) -> Self {
        self.dropped.extend(paths);
        self
    }

    /// Accepts objects that were reduced to their metadata on the way (`PartialObjectMetadata`).
    #[must_use]
    pub fn metadata_only(mut self) -> Self {
        self.is_metadata_only = true;
        #[cfg(feature = "protobuf")]
        {
            self.message = Some(protobuf::message_named(protobuf::PARTIAL_METADATA));
        }
        self
    }

    /// Returns whether its objects can be read in an encoding.
    #[cfg(feature = "protobuf")]
    pub(crate) fn reads(&self, encoding: Encoding) -> bool {
        encoding != Encoding::Protobuf || self.message.is_some()
    }

    /// Makes one object of JSON that may not have been checked, or takes it from those that are held.
    ///
    /// # Errors
    ///
    /// The text is not an object of the type that was asked for, or not JSON at all: then the caller, which has the rest of the
    /// answer, knows what is wrong.
    pub(crate) fn object<K>(
        &self,
        json: &str,
        making: &ItemContext<'_, K>,
    ) -> Result<DecodedItem<K>, ListWatchError> {
        let is_checked = making.form.needs_checked_json();
        let peek = if is_checked {
            Peek::whole(json)
        } else {
            Peek::of(json)
        };
        let mut peek =
            peek.map_err(|error| malformed("an object with malformed metadata", error))?;
        self.check_type(&peek)?;
        let has_type = !peek.kind.is_empty() || !peek.api_version.is_empty();
        let lengths = std::mem::take(&mut peek.lengths);
        let metadata = peek.into_metadata(&mut lock(&self.interner))?;
        if making.shard.is_some_and(|shard| !shard.admits(&metadata)) {
            return if is_checked || is_json(json) {
                Ok(DecodedItem::OutOfShard(metadata.resource_version))
            } else {
                Err(protocol("a malformed object"))
            };
        }
        if let Some(object) = making.held.and_then(|held| held.lookup(&metadata)) {
            return if is_checked || is_json(json) {
                Ok(DecodedItem::Object(Ok(object)))
            } else {
                Err(protocol("a malformed object"))
            };
        }
        let document = Document {
            bytes: json.as_bytes(),
            // List items of built-in types come without kind and apiVersion, watch events with them: a user's type sees
            // both alike.
            syntax: Syntax::Json {
                has_type: has_type || self.is_metadata_only,
            },
            lengths: &lengths,
        };
        match making.form.value(self, &document) {
            Ok(value) => Ok(DecodedItem::Object(Ok(Object::from_parts(metadata, value)))),
            Err(error) if !is_json(json) => Err(malformed("a malformed object", error)),
            Err(error) => Ok(DecodedItem::Object(Err(undecodable(metadata, error)))),
        }
    }

    /// The same of an item that was cut out of a list; `None` if it is outside of the shard.
    pub(crate) fn item<K>(
        &self,
        encoding: Encoding,
        item: &[u8],
        making: &ItemContext<'_, K>,
    ) -> Result<Option<ArrivedObject<K>>, ListWatchError> {
        match encoding {
            Encoding::Json => self.json_item(item, making),
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => self
                .protobuf_object(item, None, making)
                .map(DecodedItem::arrived),
            #[cfg(feature = "cbor")]
            Encoding::Cbor => self.cbor_object(item, making).map(DecodedItem::arrived),
        }
    }

    fn json_item<K>(
        &self,
        item: &[u8],
        making: &ItemContext<'_, K>,
    ) -> Result<Option<ArrivedObject<K>>, ListWatchError> {
        let Ok(json) = str::from_utf8(item) else {
            return Err(protocol("a body that is not a list"));
        };
        let object = self.object(json, making);
        if object.is_err() && !is_json(json) {
            return Err(protocol("a body that is not a list"));
        }
        object.map(DecodedItem::arrived)
    }

    /// Builds an object.
    fn build<K: DeserializeOwned>(&self, document: &Document<'_>) -> serde_json::Result<K> {
        let (bytes, syntax) = (document.bytes, document.syntax);
        match syntax {
            Syntax::Json { has_type } => {
                let text = str::from_utf8(bytes).map_err(serde_json::Error::custom)?;
                let mut json = serde_json::Deserializer::from_str(text);
                self.value(has_type, &mut json, Some(document.lengths))
            }
            #[cfg(any(feature = "protobuf", feature = "cbor"))]
            _ => syntax.read(bytes, binary::Build::new(self, syntax)),
        }
    }

    /// Builds an object without the fields that are dropped, and with its type in front if it has none.
    ///
    /// All of this is compiled once for each `K` and encoding, so that what differs between objects are values.
    fn value<'de, K: DeserializeOwned, D: Deserializer<'de>>(
        &self,
        has_type: bool,
        deserializer: D,
        lengths: Option<&Lengths>,
    ) -> Result<K, D::Error> {
        let dropped = DroppedFields::new(&self.dropped);
        let layered = Layered::new(deserializer, Rules::new(lengths, &dropped));
        let object_type = if has_type {
            None
        } else if self.is_metadata_only {
            Some(peek::PARTIAL)
        } else {
            Some((&*self.api_version, &*self.kind))
        };
        typed::with_type(layered, object_type)
    }

    /// Refuses an object of another type than the requested one: it might decode into an almost empty object.
    fn check_type(&self, peek: &Peek<'_>) -> Result<(), ListWatchError> {
        let (api_version, kind) = (&*peek.api_version, &*peek.kind);
        if peek::is_table(api_version, kind) {
            return Err(protocol("a table where objects were asked for"));
        }
        if peek::is_partial(api_version, kind) {
            return if self.is_metadata_only {
                Ok(())
            } else {
                Err(protocol("only metadata where whole objects were asked for"))
            };
        }
        let is_expected = (kind.is_empty() || kind == self.kind)
            && (api_version.is_empty() || api_version == self.api_version);
        if is_expected {
            return Ok(());
        }
        let wanted = (&self.api_version, &self.kind);
        Err(protocol(format!(
            "{kind} of {api_version} where {} of {} was asked for",
            wanted.1, wanted.0
        )))
    }
}

// === impl ItemContext ===

impl<'a, K: DeserializeOwned> ItemContext<'a, K> {
    /// Decodes on arrival, unless the object is held already.
    fn typed(held: Option<&'a dyn HeldObjects<K>>) -> Self {
        Self {
            held,
            form: &TypedForm,
            shard: None,
        }
    }
}

// === impl DecodedItem ===

impl<K> DecodedItem<K> {
    /// Returns the object, if it is wanted.
    fn arrived(self) -> Option<ArrivedObject<K>> {
        match self {
            Self::Object(arrived) => Some(arrived),
            Self::OutOfShard(_) => None,
        }
    }
}

fn undecodable(metadata: Metadata, error: serde_json::Error) -> DecodeError {
    DecodeError {
        key: metadata.key,
        resource_version: metadata.resource_version,
        source: Arc::new(error),
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

fn protocol(what: impl Into<String>) -> ListWatchError {
    ListWatchError::Protocol {
        what: what.into(),
        source: None,
    }
}

/// JSON that ends too early was broken off on the way; JSON that is wrong was sent that way.
fn malformed(what: &str, error: serde_json::Error) -> ListWatchError {
    if error.is_eof() {
        ListWatchError::Transport(Box::new(error))
    } else {
        ListWatchError::Protocol {
            what: what.to_owned(),
            source: Some(Box::new(error)),
        }
    }
}
