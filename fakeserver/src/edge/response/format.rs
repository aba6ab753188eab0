//! The media types of answers.

use http::HeaderValue;

/// The format of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    /// Written as JSON, and then converted.
    Yaml,
    Protobuf,
}

// === impl Format ===

impl Format {
    /// The type of an answer.
    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        })
    }

    /// The type of a stream of events.
    pub(crate) fn stream_content_type(self) -> HeaderValue {
        match self {
            Self::Protobuf => {
                HeaderValue::from_static("application/vnd.kubernetes.protobuf;stream=watch")
            }
            Self::Json | Self::Yaml => self.content_type(),
        }
    }
}
