//! The answer to a write that leaves no object to answer with.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use serde::Serialize;

use super::{Details, Named};

/// It went well.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Success {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    status: &'static str,
    details: Details,
}

#[derive(Clone, Debug, Serialize)]
struct Empty {}

// === impl Success ===

impl Success {
    /// The object is gone.
    pub(crate) fn of(object: Named<'_>, uid: String) -> Self {
        let details = Details {
            uid,
            ..object.into()
        };
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: Empty {},
            status: "Success",
            details,
        }
    }
}

impl IntoResponse for Success {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}
