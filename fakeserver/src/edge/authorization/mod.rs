//! Authorization: the attributes of a request and the stored rules become a decision.
//!
//! Under RBAC the rules are the stored roles and bindings, as they are at the time of the request. A policy is read from
//! them once, and again after one of them has changed.

mod request_attributes;
mod impersonation;
mod authorizer;
#[cfg(test)]
mod tests;

pub use self::authorizer::Authorization;
pub(crate) use self::{
    authorizer::Authorizer, impersonation::impersonation, request_attributes::request_attributes,
};
