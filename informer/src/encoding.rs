//! The encodings of objects, and how bytes of each are read.

use serde::de::DeserializeSeed;

#[cfg(feature = "cbor")]
use crate::cbor;
#[cfg(feature = "protobuf")]
use crate::protobuf::{MessageDeserializer, MessageId};

/// An encoding of lists and watches.
///
/// The server is asked for it, with JSON as the second choice; the answer is read as what it is. Objects are equal in all of
/// them.
#[doc(alias = "ContentType")]
#[doc(alias = "AcceptContentTypes")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// `application/json`: what every server and every proxy can read.
    #[default]
    Json,
    /// `application/vnd.kubernetes.protobuf`, for built-in types and for metadata; other types are asked for as JSON.
    #[cfg(feature = "protobuf")]
    Protobuf,
    /// `application/cbor`, for all types. An API server has it behind the feature gate `CBORServingAndStorage`.
    #[cfg(feature = "cbor")]
    Cbor,
}

/// The syntax by which the bytes of one object are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, which says its kind and API version or does not.
    Json { has_type: bool },
    /// A message that was checked.
    #[cfg(feature = "protobuf")]
    Protobuf(MessageId),
    /// CBOR, which says its kind and API version or does not.
    #[cfg(feature = "cbor")]
    Cbor { has_type: bool },
}

// === impl Encoding ===

impl Encoding {
    /// Reads the media type of an answer; `None` for one that is not known.
    pub(crate) fn of_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        match essence.to_ascii_lowercase().as_str() {
            "" | "application/json" => Some(Self::Json),
            #[cfg(feature = "protobuf")]
            "application/vnd.kubernetes.protobuf" => Some(Self::Protobuf),
            #[cfg(feature = "cbor")]
            "application/cbor" | "application/cbor-seq" => Some(Self::Cbor),
            _ => None,
        }
    }

    /// Returns the media type that is asked for.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            #[cfg(feature = "protobuf")]
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
            #[cfg(feature = "cbor")]
            Self::Cbor => "application/cbor",
        }
    }
}

// === impl Syntax ===

impl Syntax {
    /// Reads bytes by `seed`.
    pub(crate) fn read<'de, S: DeserializeSeed<'de>>(
        self,
        bytes: &'de [u8],
        seed: S,
    ) -> serde_json::Result<S::Value> {
        match self {
            Self::Json { .. } => {
                let mut json = serde_json::Deserializer::from_slice(bytes);
                let value = seed.deserialize(&mut json)?;
                json.end()?;
                Ok(value)
            }
            #[cfg(feature = "protobuf")]
            Self::Protobuf(message) => seed.deserialize(MessageDeserializer::new(message, bytes)),
            #[cfg(feature = "cbor")]
            Self::Cbor { .. } => cbor::read(bytes, seed),
        }
    }
}
