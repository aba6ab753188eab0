//! Cuts a stream of bytes into frames: one line of JSON each.

use bytes::{Bytes, BytesMut};

use crate::list_watch::ListWatchError;

/// The largest frame that is accepted by default: 16 MiB.
///
/// A cluster's storage holds objects of up to 1.5 MiB and takes requests of up to 3 MiB; a frame is one object and a few
/// words. What is larger by far is not a watch event, and must not fill the memory.
pub const FRAME_SIZE_MAX_BYTES: usize = 16 << 20;

/// Cuts a stream of bytes, which comes in chunks of any size, into lines.
///
/// Line ends (`\n` or `\r\n`) are taken off, blank lines left out. What follows the last line end is kept for the next
/// chunk; [`finish`](Self::finish) gives it when there is none.
///
/// # Memory
///
/// A frame within one chunk is a view of it; only a frame that spans chunks is copied, once.
#[derive(Debug)]
pub struct FrameSplitter {
    chunk: Bytes,
    partial: BytesMut,
    size_max_bytes: usize,
}

// === impl FrameSplitter ===

impl Default for FrameSplitter {
    fn default() -> Self {
        Self::new(FRAME_SIZE_MAX_BYTES)
    }
}

impl FrameSplitter {
    /// Accepts frames of up to `size_max_bytes`, line ends not counted.
    pub fn new(size_max_bytes: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            partial: BytesMut::new(),
            size_max_bytes,
        }
    }

    /// Takes the next chunk of the stream. [`next_frame`](Self::next_frame) must have given `None` before.
    pub fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty(), "a chunk was pushed before its time");
        self.chunk = chunk;
    }

    /// The next complete frame; `None` if another chunk is needed.
    ///
    /// # Errors
    ///
    /// [`ListWatchError::FrameTooLarge`], and the stream is then of no use: where the next frame begins is not known.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, ListWatchError> {
        while let Some(end) = memchr::memchr(b'\n', &self.chunk) {
            let line = self.chunk.split_to(end + 1).slice(..end);
            let frame = without_return(self.join(line)?);
            if !is_blank(&frame) {
                return Ok(Some(frame));
            }
        }
        let rest = std::mem::take(&mut self.chunk);
        self.check_size(rest.len())?;
        self.partial.extend_from_slice(&rest);
        Ok(None)
    }

    /// Returns the bytes after the last line end: a last frame without one, or the beginning of a frame that was cut
    /// off.
    pub fn finish(&mut self) -> Option<Bytes> {
        let rest = without_return(self.partial.split().freeze());
        (!is_blank(&rest)).then_some(rest)
    }

    fn join(&mut self, line: Bytes) -> Result<Bytes, ListWatchError> {
        self.check_size(line.len())?;
        if self.partial.is_empty() {
            return Ok(line);
        }
        self.partial.extend_from_slice(&line);
        Ok(self.partial.split().freeze())
    }

    fn check_size(&self, added_bytes: usize) -> Result<(), ListWatchError> {
        if self.partial.len() + added_bytes > self.size_max_bytes {
            return Err(ListWatchError::FrameTooLarge {
                limit_bytes: self.size_max_bytes,
            });
        }
        Ok(())
    }
}

fn without_return(line: Bytes) -> Bytes {
    match line.last() {
        Some(b'\r') => line.slice(..line.len() - 1),
        _ => line,
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}
