//! Bodies become answers.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderValue, StatusCode, header};

use super::pretty;
use crate::{faults::Answer, status::Status};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// 200 with a body that is there already.
pub(crate) fn json(body: Bytes, is_pretty: bool) -> Response {
    let body = if is_pretty {
        pretty(&body).into()
    } else {
        body
    };
    ([(header::CONTENT_TYPE, JSON)], body).into_response()
}

/// 200 with a body that is still being made.
pub(crate) fn streamed_json(body: Body) -> Response {
    ([(header::CONTENT_TYPE, JSON)], body).into_response()
}

/// The frame that tells a watch what is wrong.
pub(crate) fn error_frame(status: &Status) -> Bytes {
    let mut frame = BytesMut::from(&br#"{"type":"ERROR","object":"#[..]);
    frame.put_slice(&status.to_json());
    frame.put_slice(b"}\n");
    frame.freeze()
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let code: StatusCode = self.code;
        (code, self.headers, self.body).into_response()
    }
}
