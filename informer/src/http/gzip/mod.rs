//! Decompression of answers while they arrive, within bounds.

use std::{
    io::{self, Write},
    mem,
};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::{HeaderMap, header};

/// The number of compressed bytes that are read in one step. At most about a thousand times as many come out of them.
const STEP_BYTES: usize = 512;

/// Decompresses a gzip stream of any number of members.
///
/// An API server ends a member with each piece of a stream that it sends, so that a client has the last event at once.
///
/// # Memory
///
/// Holds one chunk of compressed bytes and what comes out of one step, half a megabyte at most, however much the whole is.
pub(super) struct GzipDecoder {
    decoder: MultiGzDecoder<Vec<u8>>,
    /// Compressed bytes that were not read yet.
    waiting: Bytes,
    is_begun: bool,
}

/// An answer whose bytes are no gzip stream, or were changed on their way.
#[derive(Debug, thiserror::Error)]
#[error("the answer cannot be decompressed")]
pub(super) struct DecompressionError(#[from] io::Error);

/// Returns whether the body of an answer is compressed.
pub(super) fn is_compressed(headers: &HeaderMap) -> bool {
    let coding = headers.get(header::CONTENT_ENCODING);
    coding.is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"gzip"))
}

// === impl GzipDecoder ===

impl GzipDecoder {
    pub(super) fn new() -> Self {
        Self {
            decoder: MultiGzDecoder::new(Vec::new()),
            waiting: Bytes::new(),
            is_begun: false,
        }
    }

    /// Takes the next compressed bytes, after all of those before were read.
    pub(super) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.waiting.is_empty(), "chunks are read one by one");
        self.is_begun |= !chunk.is_empty();
        self.waiting = chunk;
    }

    /// Returns the next bytes; `None` if they need more compressed ones.
    ///
    /// # Errors
    ///
    /// The stream is not gzip, or was changed on its way.
    pub(super) fn next_chunk(&mut self) -> Result<Option<Bytes>, DecompressionError> {
        while !self.waiting.is_empty() {
            let step = self.waiting.split_to(STEP_BYTES.min(self.waiting.len()));
            self.decoder.write_all(&step)?;
            if self.waiting.is_empty() {
                // Nothing that has come waits in the decoder.
                self.decoder.flush()?;
            }
            let chunk = mem::take(self.decoder.get_mut());
            if !chunk.is_empty() {
                return Ok(Some(chunk.into()));
            }
        }
        Ok(None)
    }

    /// Checks that the stream ends behind a member.
    ///
    /// # Errors
    ///
    /// It breaks off within one.
    pub(super) fn finish(&mut self) -> Result<(), DecompressionError> {
        if self.is_begun {
            self.decoder.try_finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
