//! RBAC: parses the stored roles and bindings into a policy, and decides by it.

mod attributes;
mod rule;
mod decision;
mod coverage;
mod access;

pub(crate) use self::{
    access::Access,
    attributes::{Attributes, ResourceAttributes, Target},
    coverage::missing_rights,
    decision::{Decision, Policy, RoleRef},
    rule::PolicyRule,
};

/// The group of roles and bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";
