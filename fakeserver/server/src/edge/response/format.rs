//! The media types of answers.

use http::HeaderValue;

use crate::edge::request::MediaTypes;

/// The format of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    /// Written as JSON, and then converted.
    Yaml,
    Protobuf,
    Cbor,
}

// === impl Format ===

impl Format {
    /// Every format, in the order in which a server prefers them.
    pub(super) const ALL: [Self; 4] = [Self::Json, Self::Yaml, Self::Protobuf, Self::Cbor];

    /// Returns whether it is one of the formats of a server.
    pub(super) fn is_of(self, media_types: MediaTypes) -> bool {
        match self {
            Self::Json | Self::Yaml | Self::Protobuf => true,
            Self::Cbor => media_types.has_cbor(),
        }
    }

    /// Returns whether events can be sent in it.
    pub(super) fn has_streams(self) -> bool {
        self != Self::Yaml
    }

    /// Returns its media type, without `application/`.
    pub(super) fn subtype(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Protobuf => "vnd.kubernetes.protobuf",
            Self::Cbor => "cbor",
        }
    }

    /// The type of an answer.
    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
            Self::Cbor => "application/cbor",
        })
    }

    /// The type of a stream of events.
    pub(crate) fn stream_content_type(self) -> HeaderValue {
        match self {
            Self::Protobuf => {
                HeaderValue::from_static("application/vnd.kubernetes.protobuf;stream=watch")
            }
            Self::Cbor => HeaderValue::from_static("application/cbor-seq"),
            Self::Json | Self::Yaml => self.content_type(),
        }
    }
}
