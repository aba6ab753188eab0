//! The answer to a write after which there is no object to return.

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

use super::{Details, NamedObject};

/// The status of a successful request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Success {
    kind: &'static str,
    api_version: &'static str,
    metadata: EmptyMetadata,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
}

#[derive(Clone, Debug, Serialize)]
struct EmptyMetadata {}

// === impl Success ===

impl Success {
    /// Creates the status for a deleted object.
    pub fn of(object: NamedObject<'_>, uid: String) -> Self {
        let details = Details {
            uid,
            ..object.into()
        };
        Self {
            details: Some(details),
            ..Self::new(None)
        }
    }

    /// Creates the answer to a successful request without an object.
    pub fn created() -> Self {
        Self::new(Some(StatusCode::CREATED))
    }

    fn new(code: Option<StatusCode>) -> Self {
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: EmptyMetadata {},
            status: "Success",
            details: None,
            code: code.map(|code| code.as_u16()),
        }
    }

    /// The object, with a newline after it.
    pub fn to_json(&self) -> Bytes {
        let mut json = serde_json::to_vec(self).expect("it has no maps at all");
        json.push(b'\n');
        json.into()
    }
}
