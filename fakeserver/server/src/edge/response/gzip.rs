//! Compression of large answers, for clients that accept it.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, header};

/// The length from which bodies are compressed.
pub(super) const COMPRESSED_OVER_BYTES: usize = 128 * 1024;

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
