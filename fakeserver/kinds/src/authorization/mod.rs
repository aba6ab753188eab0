//! The group `authorization.k8s.io`: reviews of access.

pub mod local_subject_access_review;
pub mod self_subject_access_review;
pub mod self_subject_rules_review;
pub mod selectors;
pub mod subject_access_review;
