//! The group `certificates.k8s.io`, and the certificates that are signed for it.

#[cfg_attr(not(feature = "tls"), path = "signature_off.rs")]
mod signature;
mod validation;
pub(crate) mod certificate_signing_request;
pub(crate) mod subject;
#[cfg(feature = "tls")]
pub(crate) mod name;
#[cfg(feature = "tls")]
pub(crate) mod request;
#[cfg_attr(not(feature = "tls"), path = "authority_off.rs")]
pub(crate) mod authority;
#[cfg(test)]
mod tests;
