//! The certificates of other servers that are accepted.

/// The trust in the certificate of another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust<'a> {
    /// It is one of these in PEM, or one of them has signed it.
    Bundle(&'a [u8]),
    /// Any is accepted, whomever it names.
    Anyone,
}
