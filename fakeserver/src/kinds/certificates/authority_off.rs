//! Certificate authorities, compiled out.

/// A certificate authority, of which there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Authority {}

// === impl Authority ===

impl Authority {
    /// Returns the certificate of the authority.
    pub(crate) fn pem(&self) -> String {
        match *self {}
    }
}
