//! Reads answers: bodies, whole or as they come, and failures of every kind.

use std::{error::Error, io, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::{
    StreamExt, TryStreamExt, future,
    stream::{self, BoxStream},
};
use http::{HeaderMap, Response, header};
use http_body::Body as _;
use http_body_util::{BodyExt, BodyStream, Limited};
use kube::client::Body;

use super::gzip::{self, DecompressionError, GzipDecoder};
use crate::{
    decode::status_of_answer,
    list_watch::{ListWatchError, Status},
};

/// A body, as it comes.
pub(super) type Chunks = BoxStream<'static, Result<Bytes, ListWatchError>>;

/// As much of a failure's body is read: a `Status` is small, and what a proxy has to say is not worth more.
const FAILURE_SIZE_MAX_BYTES: usize = 64 << 10;

/// As much room is made for a body before it comes.
const WHOLE_SIZE_HINT_MAX_BYTES: u64 = 64 << 20;

/// Returns the media type of an answer; empty if it does not say.
pub(super) fn media_type(response: &Response<Body>) -> &str {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    media_type
        .and_then(|media_type| media_type.to_str().ok())
        .unwrap_or_default()
}

/// The body to its end.
pub(super) async fn whole_body(response: Response<Body>) -> Result<Bytes, ListWatchError> {
    // Not more than a client is ready to believe.
    let hint = response
        .body()
        .size_hint()
        .lower()
        .min(WHOLE_SIZE_HINT_MAX_BYTES);
    let mut whole = BytesMut::with_capacity(usize::try_from(hint).unwrap_or_default());
    let mut chunks = chunks(response);
    while let Some(chunk) = chunks.try_next().await? {
        // Each chunk is let go of at once, so that the body is not held twice.
        whole.extend_from_slice(&chunk);
    }
    Ok(whole.freeze())
}

/// The body as it comes, decompressed.
pub(super) fn chunks(response: Response<Body>) -> Chunks {
    let is_compressed = gzip::is_compressed(response.headers());
    let frames = BodyStream::new(response.into_body());
    let chunks = frames.filter_map(|frame| {
        let chunk = frame
            .map_err(transport_error)
            .map(http_body::Frame::into_data);
        // Trailers say nothing.
        future::ready(match chunk {
            Ok(Ok(chunk)) => Some(Ok(chunk)),
            Ok(Err(_)) => None,
            Err(error) => Some(Err(error)),
        })
    });
    let chunks = chunks.boxed();
    if is_compressed {
        decompressed(chunks)
    } else {
        chunks
    }
}

fn decompressed(chunks: Chunks) -> Chunks {
    let state = (chunks, GzipDecoder::new());
    let decompressed = stream::try_unfold(state, |(mut chunks, mut decoder)| async move {
        loop {
            if let Some(chunk) = decoder.next_chunk().map_err(bad_compression)? {
                return Ok(Some((chunk, (chunks, decoder))));
            }
            let Some(chunk) = chunks.try_next().await? else {
                decoder.finish().map_err(bad_compression)?;
                return Ok(None);
            };
            decoder.push(chunk);
        }
    });
    decompressed.boxed()
}

/// Returns whether an answer failed since it could not be decompressed.
pub(super) fn is_bad_compression(error: &ListWatchError) -> bool {
    matches!(error, ListWatchError::Transport(source) if source.is::<DecompressionError>())
}

/// Sorts out an error of decompression: the bytes that arrived are not those that were sent.
pub(super) fn bad_compression(error: DecompressionError) -> ListWatchError {
    ListWatchError::Transport(Box::new(error))
}

/// Reads an answer that is not a success. If its body cannot be read, the code alone makes the status.
pub(super) async fn failure(response: Response<Body>) -> Status {
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, FAILURE_SIZE_MAX_BYTES)
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let mut status = status_of_answer(parts.status.as_u16(), &body);
    status.retry_after = status.retry_after.max(retry_after(&parts.headers));
    status
}

/// The `Retry-After` header: seconds, or a date, which is read against the answer's own `Date`, so that no clock is needed
/// and none can be wrong.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let value = text(header::RETRY_AFTER)?;
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let now = httpdate::parse_http_date(text(header::DATE)?).ok()?;
    until.duration_since(now).ok()
}

/// Sorts out an error of the client: refused, or broken otherwise.
pub(super) fn transport_error(error: kube::Error) -> ListWatchError {
    match error {
        kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => {
            ListWatchError::Request(Box::new(error))
        }
        error if is_refused(&error) => ListWatchError::Refused(Box::new(error)),
        error => ListWatchError::Transport(Box::new(error)),
    }
}

fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        next = match error.downcast_ref::<io::Error>() {
            Some(io) if io.kind() == io::ErrorKind::ConnectionRefused => return true,
            // The source of a wrapping `io::Error` is the source of what it wraps: that itself would be left out.
            Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    false
}

#[cfg(test)]
mod tests;
