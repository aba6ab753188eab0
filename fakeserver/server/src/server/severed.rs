//! Transport errors, in process, of answers that a fault has cut off.

use std::{convert::Infallible, io};

use axum::response::Response;
use tower::BoxError;

use crate::faults::Severed;

/// The answer of the router as its client gets it; or how the transport fails.
pub(super) fn deliver(answer: Result<Response, Infallible>) -> Result<Response, BoxError> {
    let Ok(response) = answer;
    match response.extensions().get::<Severed>() {
        Some(Severed(kind)) => Err(io::Error::new(*kind, "connection cut by a fault").into()),
        None => Ok(response),
    }
}
