//! Without the feature `tls`, no certificate and no request for one is read.

/// Finds no problem.
pub(super) fn request_problem(_: &[u8]) -> Option<String> {
    None
}

/// Finds no problem.
pub(super) fn certificates_problem(_: &[u8]) -> Option<&'static str> {
    None
}

/// Finds no problem.
pub(super) fn authority_problem(_: &[u8]) -> Option<&'static str> {
    None
}

/// Finds nothing.
pub(super) fn validity(_: &[u8]) -> Option<(i64, i64)> {
    None
}
