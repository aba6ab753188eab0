//! Authentication errors.

use std::sync::Arc;

/// An invalid credential. The request is rejected with 401; the log and a `TokenReview` report the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticationError {
    /// The request has no credentials, and anonymous requests are not served.
    #[error("no credentials")]
    Missing,
    /// The client certificate is not accepted.
    #[error("{0}")]
    RejectedCertificate(Arc<str>),
    /// The token is not one of this server.
    #[error("invalid bearer token")]
    InvalidToken,
    /// The token was issued by this server, and is not valid any more, not yet, or for others.
    #[error("[invalid bearer token, {0}]")]
    RejectedToken(String),
}
