//! The certificates of other servers that are accepted.

/// The trust in the certificate of another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust<'a> {
    /// The certificate is one of these in PEM, or is signed by one.
    Bundle(&'a [u8]),
    /// Any is accepted, whomever it names.
    Anyone,
}
