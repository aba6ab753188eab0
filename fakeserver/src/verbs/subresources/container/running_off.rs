//! The answers of kubelets, compiled out.

use axum::{body::Body, response::Response};
use serde_json::Value;

use crate::{
    containers::Containers,
    value::status::Status,
    verbs::{Api, Request, Verb},
};

/// The options of a request, which are not read.
pub(super) struct Options;

// === impl Options ===

impl Options {
    #[expect(
        clippy::unnecessary_wraps,
        reason = "options may be wrong where they are read"
    )]
    pub(super) fn of(_: &Request<'_>) -> Result<Self, Status> {
        Ok(Self)
    }
}

/// Answers nothing, since there are no containers.
pub(super) fn serve(
    _: &Api,
    _: &Request<'_>,
    containers: &Containers,
    _: &Value,
    _: &str,
    _: &Options,
) -> Result<Response, Status> {
    match *containers {}
}

/// Forwards nothing, since there are no containers.
pub(super) async fn proxy(
    _: &Api,
    _: &Request<'_>,
    _: Verb,
    containers: &Containers,
    _: Body,
) -> Result<Response, Status> {
    match *containers {}
}
