//! Transport errors in process, for requests whose connection a fault has severed.

use std::{convert::Infallible, io};

use axum::response::Response;
use tower::BoxError;

use crate::faults::SeveredConnection;

/// Returns the router's response, or the transport error if a fault has severed the connection.
pub(super) fn deliver(answer: Result<Response, Infallible>) -> Result<Response, BoxError> {
    let Ok(response) = answer;
    match response.extensions().get::<SeveredConnection>() {
        Some(SeveredConnection(kind)) => {
            Err(io::Error::new(*kind, "connection cut by a fault").into())
        }
        None => Ok(response),
    }
}
