//! The frames of a watch, in whichever encoding it came.

use bytes::Bytes;

#[cfg(feature = "cbor")]
use super::binary::CborFrames;
#[cfg(feature = "protobuf")]
use super::binary::ProtobufFrames;
use super::frame::FrameSplitter;
use crate::{encoding::Encoding, list_watch::ListWatchError};

/// Cuts the stream of a watch into frames.
#[derive(Debug)]
pub(crate) enum Frames {
    Json(FrameSplitter),
    #[cfg(feature = "protobuf")]
    Protobuf(ProtobufFrames),
    #[cfg(feature = "cbor")]
    Cbor(CborFrames),
}

// === impl Frames ===

impl Frames {
    pub(crate) fn new(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Json => Self::Json(FrameSplitter::default()),
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => Self::Protobuf(ProtobufFrames::default()),
            #[cfg(feature = "cbor")]
            Encoding::Cbor => Self::Cbor(CborFrames::default()),
        }
    }

    pub(crate) fn encoding(&self) -> Encoding {
        match self {
            Self::Json(_) => Encoding::Json,
            #[cfg(feature = "protobuf")]
            Self::Protobuf(_) => Encoding::Protobuf,
            #[cfg(feature = "cbor")]
            Self::Cbor(_) => Encoding::Cbor,
        }
    }

    /// Takes the next chunk of the stream. [`next_frame`](Self::next_frame) must have given `None` before.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        match self {
            Self::Json(frames) => frames.push(chunk),
            #[cfg(feature = "protobuf")]
            Self::Protobuf(frames) => frames.push(&chunk),
            #[cfg(feature = "cbor")]
            Self::Cbor(frames) => frames.push(&chunk),
        }
    }

    /// Returns the next complete frame; `None` if another chunk is needed.
    ///
    /// # Errors
    ///
    /// The frame is too large, or there is none; the stream is then of no use.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Bytes>, ListWatchError> {
        match self {
            Self::Json(frames) => frames.next_frame(),
            #[cfg(feature = "protobuf")]
            Self::Protobuf(frames) => frames.next_frame(),
            #[cfg(feature = "cbor")]
            Self::Cbor(frames) => frames.next_frame(),
        }
    }

    /// Returns what is left when the stream has ended: a last line, or the error of a frame that was broken off.
    pub(crate) fn finish(&mut self) -> Option<Result<Bytes, ListWatchError>> {
        match self {
            Self::Json(frames) => frames.finish().map(Ok),
            #[cfg(feature = "protobuf")]
            Self::Protobuf(frames) => frames.finish().err().map(Err),
            #[cfg(feature = "cbor")]
            Self::Cbor(frames) => frames.finish().err().map(Err),
        }
    }
}
