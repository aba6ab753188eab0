//! HTTP answers with a negotiated body.

use std::convert::Infallible;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use fakeserver_value::{cbor, protobuf, status::Status, yaml::to_string};
use futures::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;

use super::{
    Format,
    accept::{negotiate_failure, negotiate_plain},
    gzip::{COMPRESSED_OVER_BYTES, CompressedStream, compress, compressed, takes_gzip},
    is_pretty,
    pretty::{pretty, pretty_pieces},
};
use crate::{
    edge::request::{MediaTypes, Query},
    faults::Answer,
};

/// The way an answer is delivered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivery {
    format: Format,
    is_pretty: bool,
    takes_gzip: bool,
}

/// Marks a response whose body is a stream of events, one per chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventStream;

/// Returns the answer to a request that timed out: JSON as `text/plain`, without negotiation.
pub(crate) fn timed_out() -> Response {
    const BODY: &str = concat!(
        r#"{"metadata":{},"status":"Failure","#,
        r#""message":"Timeout: request did not complete within the allotted timeout","#,
        r#""reason":"Timeout","details":{},"code":504}"#,
        "\n",
    );
    let content_type = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (StatusCode::GATEWAY_TIMEOUT, content_type, BODY).into_response()
}

/// Returns the response of a failed request in the format that the client prefers. CBOR is not offered, since no
/// resource handler has answered.
pub(crate) fn refusal(headers: &HeaderMap, status: Status) -> Response {
    refusal_to(MediaTypes::default(), &Query::default(), headers, status)
}

/// The same, for a request with parameters.
pub(crate) fn refusal_to(
    media_types: MediaTypes,
    query: &Query,
    headers: &HeaderMap,
    status: Status,
) -> Response {
    let body = match negotiate_failure(headers, media_types) {
        Some(Format::Json) if !is_pretty(query, headers) => return status.into_response(),
        Some(Format::Yaml) => (Format::Yaml, yaml(&status.to_json())),
        Some(Format::Protobuf) => (Format::Protobuf, status_protobuf(&status).into()),
        Some(Format::Cbor) => (Format::Cbor, status_cbor(&status).into()),
        // A client that accepts none of them is a reader.
        Some(Format::Json) | None => (Format::Json, pretty(&status.to_json()).into()),
    };
    let (format, body): (Format, Bytes) = body;
    let mut response = status.into_response();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, format.content_type());
    *response.body_mut() = Body::from(body);
    response
}

/// A failure as protobuf.
pub(super) fn status_protobuf(status: &Status) -> Vec<u8> {
    protobuf::encode_object(&status_value(status)).expect("a status has a message")
}

/// A failure as CBOR.
pub(super) fn status_cbor(status: &Status) -> Vec<u8> {
    cbor::encode(&status_value(status), None)
}

fn status_value(status: &Status) -> Value {
    serde_json::from_slice(&status.to_json()).expect("a status is serialized as JSON")
}

// === impl Delivery ===

impl Delivery {
    pub(crate) fn new(format: Format, query: &Query, headers: &HeaderMap) -> Self {
        Self {
            format,
            is_pretty: is_pretty(query, headers),
            takes_gzip: takes_gzip(headers),
        }
    }

    /// Creates the delivery of a response that is no object of a resource, in the first format that `headers` accept.
    pub(crate) fn plain(
        headers: &HeaderMap,
        media_types: MediaTypes,
        is_routed: bool,
        is_pretty: bool,
    ) -> Result<Self, Status> {
        Ok(Self {
            format: negotiate_plain(headers, media_types, is_routed)?,
            is_pretty,
            takes_gzip: takes_gzip(headers),
        })
    }

    /// Returns a response with a typed JSON object in the negotiated format.
    pub(crate) fn negotiated(self, code: StatusCode, json: Bytes) -> Response {
        let document =
            || -> Value { serde_json::from_slice(&json).expect("it was written as JSON") };
        let body = match self.format {
            Format::Json | Format::Yaml => json,
            Format::Protobuf => {
                let body = protobuf::encode_object(&document());
                body.expect("documents without views have a protobuf message")
                    .into()
            }
            Format::Cbor => cbor::encode(&document(), None).into(),
        };
        self.whole(code, body)
    }

    /// Creates the delivery of a body that is sent unchanged; the caller sets its media type.
    pub(crate) fn verbatim(headers: &HeaderMap) -> Self {
        Self {
            format: Format::Json,
            is_pretty: false,
            takes_gzip: takes_gzip(headers),
        }
    }

    /// An answer with a body that is there already: protobuf, or JSON.
    pub(crate) fn whole(self, code: StatusCode, body: Bytes) -> Response {
        let body = match self.format {
            Format::Json if self.is_pretty => pretty(&body).into(),
            Format::Json | Format::Protobuf | Format::Cbor => body,
            Format::Yaml => yaml(&body),
        };
        let is_compressed = self.takes_gzip && body.len() > COMPRESSED_OVER_BYTES;
        let body = if is_compressed {
            Body::from(compress(&body))
        } else {
            Body::from(body)
        };
        self.response(code, body, is_compressed)
    }

    /// Returns a response whose body is encoded piece by piece while it is sent.
    pub(crate) fn pieces(self, pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Response {
        match self.format {
            Format::Yaml => {
                let whole = pieces.fold(BytesMut::new(), |mut whole, piece| {
                    whole.extend_from_slice(&piece);
                    whole
                });
                self.whole(StatusCode::OK, whole.freeze())
            }
            Format::Json if self.is_pretty => self.encoded(pretty_pieces(pieces)),
            Format::Json | Format::Protobuf | Format::Cbor => self.encoded(pieces),
        }
    }

    /// Returns a response with encoded pieces, compressed if it is long.
    fn encoded(self, mut pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Response {
        if !self.takes_gzip {
            return self.response(StatusCode::OK, streamed(pieces), false);
        }
        // The length is only known to exceed the threshold once that many bytes are encoded.
        let mut beginning = Vec::new();
        let mut length = 0;
        while length <= COMPRESSED_OVER_BYTES {
            let Some(piece) = pieces.next() else {
                return self.response(StatusCode::OK, streamed(beginning.into_iter()), false);
            };
            length += piece.len();
            beginning.push(piece);
        }
        let body = streamed(compressed(beginning.into_iter().chain(pieces)));
        self.response(StatusCode::OK, body, true)
    }

    /// Returns a stream of events, compressed if `may_compress` and the client accepts it.
    pub(crate) fn stream(self, body: Body, may_compress: bool) -> Response {
        let content_type = [(header::CONTENT_TYPE, self.format.stream_content_type())];
        let is_compressed = self.takes_gzip && may_compress;
        let body = if is_compressed {
            Body::new(CompressedStream::new(body))
        } else {
            body
        };
        let mut response = (content_type, body).into_response();
        if is_compressed {
            set_compressed(response.headers_mut());
        }
        response.extensions_mut().insert(EventStream);
        response
    }

    fn response(self, code: StatusCode, body: Body, is_compressed: bool) -> Response {
        let content_type = [(header::CONTENT_TYPE, self.format.content_type())];
        let mut response = (code, content_type, body).into_response();
        if is_compressed {
            set_compressed(response.headers_mut());
        }
        response
    }
}

fn set_compressed(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
}

fn streamed(pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Body {
    Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)))
}

/// Converts JSON to YAML.
pub(crate) fn yaml(json: &[u8]) -> Bytes {
    let value: Value = serde_json::from_slice(json).expect("it was written as JSON");
    to_string(&value).into()
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let code: StatusCode = self.code;
        (code, self.headers, self.body).into_response()
    }
}
