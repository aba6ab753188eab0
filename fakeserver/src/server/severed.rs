//! Where an answer that a fault has cut off becomes an error of the transport, for clients in process.

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
