//! Without the feature `tls`, no certificate and no request for one is read.

/// Finds no problem.
pub(super) fn request_problem(_: &[u8]) -> Option<String> {
    None
}

/// Finds no problem.
pub(super) fn certificates_problem(_: &[u8]) -> Option<&'static str> {
    None
}
