//! The group `rbac.authorization.k8s.io`: roles and their bindings.

pub(crate) mod policy;
pub(crate) mod cluster_role;
pub(crate) mod cluster_role_binding;
mod binding;
pub(crate) mod role;
pub(crate) mod role_binding;
mod rule;
