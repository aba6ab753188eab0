//! The group `authentication.k8s.io`: reviews of who asks.

pub(crate) mod self_subject_review;
pub(crate) mod token_review;
