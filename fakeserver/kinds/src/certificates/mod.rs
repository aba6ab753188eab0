//! The group `certificates.k8s.io`, and the certificates that are signed for it.

#[cfg(feature = "tls")]
pub mod public_key;
#[cfg_attr(not(feature = "tls"), path = "signature_off.rs")]
mod signature;
mod validation;
pub mod certificate_signing_request;
pub mod cluster_trust_bundle;
pub mod pod_certificate_request;
pub mod subject;
#[cfg(feature = "tls")]
pub mod name;
#[cfg(feature = "tls")]
pub mod chain;
#[cfg(feature = "tls")]
pub mod request;
#[cfg_attr(not(feature = "tls"), path = "authority_off.rs")]
pub mod authority;
#[cfg(test)]
mod tests;
