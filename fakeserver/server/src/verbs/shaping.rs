//! Bodies of answers, shaped by faults.

use std::{io, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http::header;
use http_body_util::{BodyExt, Collected};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use tokio::time::sleep;

use crate::{
    edge::response::EventStream,
    faults::{BodyFault, Breakage, Rewrite},
};

/// The time that a transport has to send the bytes before the connection breaks.
const TRANSPORT_FLUSH: Duration = Duration::from_millis(1);
/// The maximum size of the pieces that a body is cut into.
const PIECE_MAX_BYTES: usize = 512;

/// Rewrites the objects of a response, if it is JSON and no stream.
///
/// # Cancel safety
///
/// Nothing is lost but the answer.
pub(super) async fn rewritten(response: Response, rewrite: Rewrite) -> Response {
    let headers = response.headers();
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|media_type| media_type == "application/json");
    let is_compressed = headers.contains_key(header::CONTENT_ENCODING);
    if !is_json || is_compressed || is_stream(&response) || !response.status().is_success() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let body = rewrite.body(whole(body).await);
    Response::from_parts(parts, Body::from(body))
}

/// Delays or cuts the body of a response by `fault`, if it is no stream.
///
/// # Cancel safety
///
/// Nothing is lost but the answer.
pub(super) async fn shaped(response: Response, fault: BodyFault) -> Response {
    if is_stream(&response) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let body = whole(body).await;
    let body = match fault {
        BodyFault::Break => {
            let half = body.slice(..body.len() / 2);
            let half = stream::iter((!half.is_empty()).then_some(Ok(half)));
            Body::from_stream(half.chain(breaking()))
        }
        BodyFault::Trickle { bytes, every } => {
            let pieces = stream::iter(pieces(body, move || bytes.max(1)));
            Body::from_stream(pieces.then(move |piece| async move {
                sleep(every).await;
                Ok::<_, io::Error>(piece)
            }))
        }
        BodyFault::Cut { seed } => {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let size = move || rng.random_range(1..=PIECE_MAX_BYTES);
            Body::from_stream(stream::iter(pieces(body, size).map(Ok::<_, io::Error>)))
        }
    };
    Response::from_parts(parts, body)
}

fn is_stream(response: &Response) -> bool {
    response.extensions().get::<EventStream>().is_some()
}

/// A body of this server does not fail; a failed body becomes empty.
async fn whole(body: Body) -> Bytes {
    let whole = body.collect().await;
    whole.map_or_else(|_| Bytes::new(), Collected::to_bytes)
}

/// The error that breaks a connection, when what goes before it has gone.
fn breaking() -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::once(async {
        sleep(TRANSPORT_FLUSH).await;
        Err(Breakage::Reset.into())
    })
}

/// `body` in pieces of these sizes.
fn pieces(
    mut body: Bytes,
    mut size: impl FnMut() -> usize + Send,
) -> impl Iterator<Item = Bytes> + Send {
    std::iter::from_fn(move || {
        let piece = body.split_to(size().min(body.len()));
        (!piece.is_empty()).then_some(piece)
    })
}
