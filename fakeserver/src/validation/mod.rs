//! What makes an object acceptable, with findings in the words of the API.
//!
//! Metadata is checked for every object; what else a built-in kind must say stands in one file a kind, or one for kinds
//! that are alike. `kinds` is the table of all of them, and `docs/validation.md` the page of what they check. Every
//! check is a function of the object, and of the one that it replaces.

pub(crate) mod names;
mod metadata;
mod field;
mod findings;
mod formats;
mod resource_names;
mod difference;
mod kinds;
mod limit_range;
mod pod;
mod workload;
mod workload_status;
mod job;
mod cron;
mod service;
mod endpoints;
mod ingress;
mod data;
mod volume;
mod claim;
mod access;
mod cluster;
mod quota;
mod warnings;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    kinds::kind_errors,
    metadata::{finalizer_warnings, metadata_errors, metadata_update_errors},
    warnings::object_warnings,
};
