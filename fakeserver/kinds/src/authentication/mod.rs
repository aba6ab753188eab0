//! The group `authentication.k8s.io`: reviews of identity.

pub mod self_subject_review;
pub mod token_review;
