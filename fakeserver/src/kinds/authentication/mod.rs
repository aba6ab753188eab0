//! The group `authentication.k8s.io`: reviews of identity.

pub(crate) mod self_subject_review;
pub(crate) mod token_review;
