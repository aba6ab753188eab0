//! The group `certificates.k8s.io`.

pub(crate) mod certificate_signing_request;
