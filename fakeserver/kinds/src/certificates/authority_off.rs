//! Certificate authorities, compiled out.

/// A certificate authority, of which there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {}

// === impl Authority ===

impl Authority {
    /// Returns the certificate of the authority.
    pub fn pem(&self) -> String {
        match *self {}
    }
}
