//! The group `lifecycle.k8s.io`: evictions that targets are asked for, and those that answer.

mod target;
pub mod eviction;
pub mod eviction_request;
