//! Who may do what: the attributes of a request and the rules that are stored become a decision.
//!
//! Under RBAC the rules are the stored roles and bindings, as they are at the time of the request. A policy is read from
//! them once, and again after one of them has changed.

mod attributes;
mod impersonation;
mod rule;
mod policy;
mod coverage;
mod authorizer;
mod bootstrap;
#[cfg(test)]
mod tests;

pub use self::authorizer::Authorization;
pub(crate) use self::{
    attributes::{Attributes, ResourceAttributes, Target},
    authorizer::{Access, Authorizer},
    bootstrap::bootstrap_objects,
    coverage::missing_rights,
    impersonation::impersonation,
    policy::{Decision, Policy, RoleRef},
    rule::PolicyRule,
};

/// The group of roles and bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";
