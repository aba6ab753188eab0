//! RBAC: parses the stored roles and bindings into a policy, and decides by it.

mod attributes;
mod rule;
mod decision;
mod coverage;
mod access;

pub use self::{
    access::Access,
    attributes::{Attributes, ResourceAttributes, Target},
    coverage::{missing_rights, uncovered},
    decision::{Decision, Policy, RoleRef},
    rule::PolicyRule,
};

/// The group of roles and bindings.
pub const GROUP: &str = "rbac.authorization.k8s.io";
