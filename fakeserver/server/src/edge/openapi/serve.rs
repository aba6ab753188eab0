//! `/openapi/v2` and `/openapi/v3`: negotiation, caching and redirects of the documents.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::ToSpan;

use super::{Document, Documents, MergedDocuments};
use crate::{
    clock::Clock,
    edge::{
        request::{OpenApiPath, Query, header_text},
        response::Delivery,
    },
};

/// The index has no type of its own: a real server guesses it, and guesses so.
const INDEX_TYPE: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// The media types of a document as protobuf.
struct Protobuf {
    name: &'static str,
    /// The value that many clients still send, though it is an invalid media type.
    old_name: &'static str,
}

const PROTOBUF_V2: Protobuf = Protobuf {
    name: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    old_name: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
};
const PROTOBUF_V3: Protobuf = Protobuf {
    name: "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    old_name: "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
};

/// Answers a request of any method with an OpenAPI document, or with 404 without a body.
#[expect(
    clippy::unnecessary_wraps,
    reason = "nothing is served where documents are compiled out"
)]
pub(crate) fn serve(
    merged: &MergedDocuments<'_>,
    clock: &Clock,
    path: &OpenApiPath,
    query: &Query,
    headers: &HeaderMap,
) -> Option<Response> {
    let documents = merged.documents;
    Some(match path {
        OpenApiPath::Index => match merged.index() {
            Some(index) => answer(headers, &index, INDEX_TYPE),
            None => answer(headers, documents.index(), INDEX_TYPE),
        },
        OpenApiPath::V2 => match merged.v2() {
            Some(document) => negotiated(headers, &document, &PROTOBUF_V2),
            None => negotiated(headers, documents.v2(), &PROTOBUF_V2),
        },
        OpenApiPath::V3(path) => document(documents, clock, path, query, headers)
            .unwrap_or_else(|| StatusCode::NOT_FOUND.into_response()),
    })
}

/// Returns a document of version 3, if there is one at `path`.
fn document(
    documents: &Documents,
    clock: &Clock,
    path: &str,
    query: &Query,
    headers: &HeaderMap,
) -> Option<Response> {
    let document = documents.v3(path)?;
    Some(match query.get("hash").filter(|hash| !hash.is_empty()) {
        None => negotiated(headers, document, &PROTOBUF_V3),
        Some(hash) if hash == document.hash() => {
            immutable(negotiated(headers, document, &PROTOBUF_V3), clock)
        }
        Some(_) => moved(&documents.url(path)?),
    })
}

/// The document in the first form that the client accepts and the server has.
fn negotiated(headers: &HeaderMap, document: &Document, protobuf: &Protobuf) -> Response {
    let accept = match header_text(headers, header::ACCEPT) {
        "" => "*/*",
        accept => accept,
    };
    let accepted = accept.split(',').find_map(|clause| {
        let media_type = clause.split(';').next().unwrap_or_default().trim();
        match media_type {
            JSON | "application/*" | "*/*" => Some(JSON),
            other if other == protobuf.name || other == protobuf.old_name => Some(protobuf.name),
            _ => None,
        }
    });
    let Some(media_type) = accepted else {
        return StatusCode::NOT_ACCEPTABLE.into_response();
    };
    let mut response = answer(headers, document, media_type);
    let vary = HeaderValue::from_static("Accept");
    response.headers_mut().append(header::VARY, vary);
    response
}

/// The document, or that the client has it already.
fn answer(headers: &HeaderMap, document: &Document, media_type: &'static str) -> Response {
    let etag = format!("\"{}\"", document.hash());
    let etags = header_text(headers, header::IF_NONE_MATCH);
    let mut response = if etags.split(',').any(|tag| tag.trim() == etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let body = match media_type {
            JSON | INDEX_TYPE => document.json(),
            _ => document.protobuf(),
        };
        let mut response = Delivery::verbatim(headers).whole(StatusCode::OK, body.clone());
        let media_type = HeaderValue::from_static(media_type);
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, media_type);
        response
    };
    let etag = HeaderValue::from_str(&etag).expect("hexadecimal is ASCII");
    response.headers_mut().insert(header::ETAG, etag);
    response
}

/// Under its hash, a document is the same for ever.
fn immutable(mut response: Response, clock: &Clock) -> Response {
    let headers = response.headers_mut();
    let forever = HeaderValue::from_static("public, immutable");
    headers.insert(header::CACHE_CONTROL, forever);
    let end = clock.now().checked_add((365 * 24).hours());
    let end = end.map(|end| end.strftime("%a, %d %b %Y %H:%M:%S UTC").to_string());
    if let Some(end) = end.ok().and_then(|end| HeaderValue::from_str(&end).ok()) {
        headers.insert(header::EXPIRES, end);
    }
    response
}

/// Redirects to the document's current address, whose hash has changed.
fn moved(url: &str) -> Response {
    (
        StatusCode::MOVED_PERMANENTLY,
        [(header::LOCATION, url), (header::VARY, "Accept")],
    )
        .into_response()
}
