//! Single requests to a server in process, without a client library.

use std::error::Error;

use axum::body::Body;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// The media type of aggregated discovery.
pub const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// An answer that was read to its end.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as far as it has arrived.
    pub body: Vec<u8>,
}

/// Characters that stay unescaped in a path, as in recorded requests.
const PLAIN: &str = "_.-~/?&=%,:!()+~@$'*";

// === impl Answer ===

impl Answer {
    /// Returns the text of a header, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

/// Builds a request and escapes its path. Fails if a part of it is malformed.
pub fn request(
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: Vec<u8>,
) -> http::Result<Request<Vec<u8>>> {
    let mut request = Request::builder().method(method).uri(escaped(path));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(body)
}

/// Sends a well-formed request and returns the answer as soon as its headers have arrived.
pub async fn open(
    router: &axum::Router,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: Vec<u8>,
) -> Response<Body> {
    let request = request(method, path, headers, body);
    send(router, request.expect("the caller wrote its parts")).await
}

/// Sends a request and returns the answer as soon as its headers have arrived.
pub async fn send(router: &axum::Router, request: Request<Vec<u8>>) -> Response<Body> {
    match router.clone().oneshot(request.map(Body::from)).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Reads an answer to its end. A body that breaks off counts as far as it has arrived.
pub async fn read(response: Response<Body>) -> Answer {
    let (head, mut body) = response.into_parts();
    let mut bytes = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
    }
    Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: bytes,
    }
}

/// Formats an error with all its sources.
pub fn whole(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let part = error.to_string();
        // Some libraries repeat the source in the message.
        if !text.contains(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        source = error.source();
    }
    text
}

fn escaped(path: &str) -> String {
    use std::fmt::Write;
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || PLAIN.as_bytes().contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            write!(escaped, "%{byte:02X}").expect("a string takes what is written");
        }
    }
    escaped
}
