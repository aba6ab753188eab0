//! Reads a `Status`, and answers that should be one.

use std::time::Duration;

use serde::Deserialize;

use super::peek;
use crate::list_watch::{Status, StatusCause};

/// The longest text of an answer that is kept as a message, in bytes.
const MESSAGE_SIZE_MAX_BYTES: usize = 1024;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireStatus {
    api_version: Option<String>,
    kind: Option<String>,
    status: Option<String>,
    message: Option<String>,
    reason: Option<String>,
    details: Option<WireDetails>,
    code: Option<u16>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireDetails {
    causes: Option<Vec<WireCause>>,
    retry_after_seconds: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireCause {
    reason: Option<String>,
    message: Option<String>,
    field: Option<String>,
}

/// Reads an answer with the HTTP status `code`: an API server's `Status`, or the text of a proxy.
pub fn status_of_answer(code: u16, body: &[u8]) -> Status {
    let mut status = parse_any(body).unwrap_or_else(|| Status {
        message: text_of(body),
        ..Status::default()
    });
    if status.code == 0 {
        status.code = code;
    }
    status
}

/// The `Status` that `body` is, in whichever encoding; `None` if it is something else.
fn parse_any(body: &[u8]) -> Option<Status> {
    #[cfg(feature = "protobuf")]
    if body.starts_with(&crate::protobuf::PREFIX) {
        return super::binary::protobuf_status(body);
    }
    #[cfg(feature = "cbor")]
    if body.starts_with(&crate::cbor::PREFIX) {
        return super::binary::cbor_status(body);
    }
    parse(body)
}

/// The `Status` that `json` is; `None` if it is something else.
///
/// The server writes some without kind and apiVersion (a request that ran out of time), hence the second sign.
pub(super) fn parse(json: &[u8]) -> Option<Status> {
    let wire: WireStatus = serde_json::from_slice(json).ok()?;
    wire.into_named_status()
}

/// The text of an answer, made fit for one line of a log.
fn text_of(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    if text.len() > MESSAGE_SIZE_MAX_BYTES {
        text.truncate(text.floor_char_boundary(MESSAGE_SIZE_MAX_BYTES));
    }
    text
}

// === impl WireStatus ===

impl WireStatus {
    /// Returns the status, if it is one by its kind, or by its fields where it has no kind.
    pub(super) fn into_named_status(self) -> Option<Status> {
        let kind = self.kind.as_deref().unwrap_or_default();
        let is_named = peek::is_status(self.api_version.as_deref().unwrap_or_default(), kind);
        let is_bare = kind.is_empty() && self.status.is_some() && self.message.is_some();
        (is_named || is_bare).then(|| self.into_status())
    }

    pub(super) fn into_status(self) -> Status {
        let details = self.details.unwrap_or_default();
        Status {
            code: self.code.unwrap_or_default(),
            reason: self.reason.unwrap_or_default(),
            message: self.message.unwrap_or_default(),
            causes: details
                .causes
                .into_iter()
                .flatten()
                .map(|cause| StatusCause {
                    reason: cause.reason.unwrap_or_default(),
                    message: cause.message.unwrap_or_default(),
                    field: cause.field.unwrap_or_default(),
                })
                .collect(),
            retry_after: details
                .retry_after_seconds
                .filter(|seconds| *seconds > 0)
                .map(|seconds| Duration::from_secs(seconds.into())),
        }
    }
}
