//! Cuts a stream of protobuf or CBOR into frames.

use bytes::{Bytes, BytesMut};

#[cfg(feature = "cbor")]
use super::malformed;
#[cfg(feature = "cbor")]
use crate::cbor::{MalformedCbor, Skipper};
#[cfg(feature = "protobuf")]
use crate::protobuf::Defect;
use crate::{decode::frame::FRAME_SIZE_MAX_BYTES, list_watch::ListWatchError};

/// Frames that begin with their length, in four bytes.
#[cfg(feature = "protobuf")]
#[derive(Debug, Default)]
pub(crate) struct ProtobufFrames {
    rest: BytesMut,
}

/// Frames that are one item each.
#[cfg(feature = "cbor")]
#[derive(Debug, Default)]
pub(crate) struct CborFrames {
    rest: BytesMut,
    /// As many bytes were stepped over.
    skipped: usize,
    skipper: Skipper,
}

// === impl ProtobufFrames ===

#[cfg(feature = "protobuf")]
impl ProtobufFrames {
    pub(crate) fn push(&mut self, chunk: &Bytes) {
        self.rest.extend_from_slice(chunk);
    }

    /// Returns the next complete frame; `None` if another chunk is needed.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Bytes>, ListWatchError> {
        let Some((length, body)) = self.rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > FRAME_SIZE_MAX_BYTES {
            return Err(too_large());
        }
        if body.len() < length {
            return Ok(None);
        }
        drop(self.rest.split_to(4));
        Ok(Some(self.rest.split_to(length).freeze()))
    }

    /// Fails if the stream has ended within a frame.
    pub(crate) fn finish(&self) -> Result<(), ListWatchError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(ListWatchError::Transport(Box::new(Defect::Truncated)))
    }
}

// === impl CborFrames ===

#[cfg(feature = "cbor")]
impl CborFrames {
    pub(crate) fn push(&mut self, chunk: &Bytes) {
        self.rest.extend_from_slice(chunk);
    }

    /// Returns the next complete frame; `None` if another chunk is needed.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Bytes>, ListWatchError> {
        let step = self.skipper.skip(&self.rest[self.skipped..]);
        let step = step.map_err(|error| malformed("a frame that is not an event", error))?;
        self.skipped += step.bytes;
        if self.skipped > FRAME_SIZE_MAX_BYTES || self.rest.len() > 2 * FRAME_SIZE_MAX_BYTES {
            return Err(too_large());
        }
        if !step.is_over {
            return Ok(None);
        }
        let frame = self.rest.split_to(std::mem::take(&mut self.skipped));
        Ok(Some(frame.freeze()))
    }

    /// Fails if the stream has ended within a frame.
    pub(crate) fn finish(&self) -> Result<(), ListWatchError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(ListWatchError::Transport(Box::new(
            MalformedCbor::Truncated,
        )))
    }
}

fn too_large() -> ListWatchError {
    ListWatchError::FrameTooLarge {
        limit_bytes: FRAME_SIZE_MAX_BYTES,
    }
}
