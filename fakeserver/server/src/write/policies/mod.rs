//! Admission policies and their bindings: `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy`.
//!
//! [`PolicyCache`] holds the compiled policies of the store. A policy without a binding has no effect and is not
//! compiled. Policies are evaluated within the attempt at a write, in the order of their names, and their bindings in the
//! order of theirs; a real server keeps no order.

mod policy;
mod cache;
mod inputs;
mod params;
mod selection;
mod validating;
mod typed_names;
mod patching;
mod mutating;

pub(in crate::write) use self::{cache::PolicyCache, mutating::mutate, validating::validate};
