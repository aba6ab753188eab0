//! `/openapi/v2` and `/openapi/v3`, without OpenAPI: not found.

use axum::response::Response;
use http::{HeaderMap, Method};

use crate::{
    clock::Clock,
    edge::{
        openapi::Documents,
        request::{OpenApiPath, Query},
    },
    value::status::Status,
};

/// Answers nothing.
pub(crate) fn serve(
    _: &Documents,
    _: &Clock,
    _: &Method,
    _: &OpenApiPath,
    _: &Query,
    _: &HeaderMap,
) -> Option<Result<Response, Status>> {
    None
}
