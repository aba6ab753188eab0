//! Certificate authorities, compiled out.

/// The certificate authority of a build without TLS, which cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {}

// === impl Authority ===

impl Authority {
    /// Returns the certificate of the authority.
    pub fn pem(&self) -> String {
        match *self {}
    }
}
