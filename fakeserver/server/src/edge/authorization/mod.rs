//! Authorization: a decision from the attributes of a request and the stored rules.
//!
//! Under RBAC the rules are the roles and bindings that are stored at the time of the request. They are parsed into a
//! policy once, and again after one of them has changed.

mod request_attributes;
mod impersonation;
mod authorizer;
#[cfg(test)]
mod tests;

pub use self::authorizer::Authorization;
pub(crate) use self::{
    authorizer::Authorizer, impersonation::impersonation, request_attributes::request_attributes,
};
