//! Authentication errors.

/// An invalid credential. The request is rejected with 401; only a `TokenReview` reports the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticationError {
    /// The request has no credentials, and anonymous requests are not served.
    #[error("no credentials")]
    Missing,
    /// The certificate was not signed by this server's authority.
    #[error("x509: certificate signed by unknown authority")]
    UnknownCertificate,
    /// The token is not one of this server.
    #[error("invalid bearer token")]
    InvalidToken,
    /// The token's time is over, or has not begun.
    #[error("[invalid bearer token, service account token has expired]")]
    TokenExpired,
    /// The token was issued for other audiences.
    #[error("[invalid bearer token, token audiences is invalid for the target audiences]")]
    WrongAudience,
    /// The service account was deleted, or is another one of the same name.
    #[error("[invalid bearer token, service account token has been invalidated]")]
    Invalidated,
}
