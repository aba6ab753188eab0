//! The group `rbac.authorization.k8s.io`: roles and their bindings.

pub mod policy;
pub mod cluster_role;
pub mod cluster_role_binding;
mod binding;
pub mod role;
pub mod role_binding;
mod rule;
