//! Compression of large answers, for clients that accept it.

use std::{
    io::Write,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{Error, body::Body};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, header};
use http_body::{Body as _, Frame};

/// The length from which bodies are compressed.
pub(super) const COMPRESSED_OVER_BYTES: usize = 128 * 1024;

/// The length from which frames are compressed even if more are ready.
const MEMBER_BYTES: usize = 64 * 1024;

const WRITES_TO_MEMORY: &str = "memory takes all bytes";

/// Returns whether a client accepts gzip: only the bare word counts.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|accepted| accepted.to_str().ok())
        .flat_map(|accepted| accepted.split(','))
        .any(|coding| coding.trim() == "gzip")
}

/// All of `bytes`, compressed.
pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect(WRITES_TO_MEMORY);
    encoder.finish().expect(WRITES_TO_MEMORY)
}

/// `pieces`, compressed one by one into one body.
pub(super) fn compressed(
    mut pieces: impl Iterator<Item = Bytes> + Send + 'static,
) -> impl Iterator<Item = Bytes> + Send + 'static {
    let mut encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
    std::iter::from_fn(move || {
        for piece in pieces.by_ref() {
            let encoder = encoder.as_mut()?;
            encoder.write_all(&piece).expect(WRITES_TO_MEMORY);
            // The compressed output so far is sent; the encoder keeps its window.
            let ready = std::mem::take(encoder.get_mut());
            if !ready.is_empty() {
                return Some(Bytes::from(ready));
            }
        }
        let rest = encoder.take()?.finish().expect(WRITES_TO_MEMORY);
        Some(Bytes::from(rest))
    })
}

/// A stream of events, compressed.
///
/// The frames that are ready at once become one member of the gzip stream, and an idle stream keeps no state of a compressor.
/// A client can read all frames of a member before the member ends: Go's reader waits for the next member when it comes to the
/// end of one, and returns what a last block has after that.
pub(super) struct CompressedStream {
    body: Body,
    /// Frames that were read and not sent.
    ready: Vec<u8>,
    /// The error that comes after them.
    failure: Option<Error>,
    is_over: bool,
}

// === impl CompressedStream ===

impl CompressedStream {
    pub(super) fn new(body: Body) -> Self {
        Self {
            body,
            ready: Vec::new(),
            failure: None,
            is_over: false,
        }
    }

    /// Reads frames until none is ready, or enough are. Returns whether the client has to wait.
    fn fill(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.ready.len() < MEMBER_BYTES && !self.is_over {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Pending if self.ready.is_empty() => return Poll::Pending,
                Poll::Pending => return Poll::Ready(()),
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        self.ready.extend_from_slice(&data);
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    self.failure = Some(error);
                    self.is_over = true;
                }
                Poll::Ready(None) => self.is_over = true,
            }
        }
        Poll::Ready(())
    }
}

impl http_body::Body for CompressedStream {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.fill(cx).is_pending() {
            return Poll::Pending;
        }
        if self.ready.is_empty() {
            return Poll::Ready(self.failure.take().map(Err));
        }
        let member = member(&std::mem::take(&mut self.ready));
        Poll::Ready(Some(Ok(Frame::data(member.into()))))
    }
}

/// Returns a member of a gzip stream that has all of `bytes` before its last block, which is empty.
fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect(WRITES_TO_MEMORY);
    encoder.flush().expect(WRITES_TO_MEMORY);
    encoder.finish().expect(WRITES_TO_MEMORY)
}
