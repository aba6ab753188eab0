//! One request to a server in process, without a client library between.

use axum::body::Body;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use tower::ServiceExt;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Characters that stay as they are in a path, as the recorder sent them.
const PLAIN: &str = "_.-~/?&=%,:!()+~@$'*";

// === impl Answer ===

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

/// Sends a request and gives the answer as soon as its headers are there.
pub(crate) async fn open(
    router: &axum::Router,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: Vec<u8>,
) -> Response<Body> {
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = Method::from_bytes(method.as_bytes()).expect("a transcript's method");
    *request.uri_mut() = escaped(path).parse().expect("an escaped path");
    for (name, value) in headers {
        request.headers_mut().append(
            HeaderName::from_bytes(name.as_bytes()).expect("a transcript's header"),
            HeaderValue::from_str(value).expect("a transcript's header"),
        );
    }
    match router.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Reads an answer to its end; a body that breaks off counts as far as it came.
pub(crate) async fn read(response: Response<Body>) -> Answer {
    use http_body_util::BodyExt;
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
