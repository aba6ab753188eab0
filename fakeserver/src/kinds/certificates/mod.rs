//! The group `certificates.k8s.io`.

mod validation;
pub(crate) mod certificate_signing_request;
pub(crate) mod subject;
#[cfg(test)]
mod tests;
