//! What makes an object acceptable, with findings in the words of the API.

pub(crate) mod names;
mod metadata;
mod immutable;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    immutable::immutable_errors,
    metadata::{metadata_errors, metadata_update_errors},
    spec::spec_errors,
};
