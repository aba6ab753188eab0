//! Kinds: the built-in ones, those that definitions create at run time, and the rules of each.
//!
//! Each kind is a module in the folder of its group, with all its rules: defaults, preparation, validation, printed
//! cells, selectable fields, habits. Each has one [`Kind`], which the [`registry`] finds by the path of a request. The
//! request carries it as [`ResourceType::rules`].
#![expect(
    clippy::return_self_not_must_use,
    missing_docs,
    reason = "the API of users is that of the crate `fakeserver`, whose items are all documented"
)]

mod habits;
mod gated_fields;
mod accepted;
mod verdict;
mod selectable_field;
pub mod expression;
pub mod addresses;
pub mod formats;
pub mod resource_names;
pub mod metadata;
pub mod conditions;
pub mod client_config;
pub mod conversion;
pub mod table;
pub mod declared;
mod claim_spec;
pub mod pod_spec;
mod workload;
pub mod custom_resources;
mod validation;
mod kind;
mod resource_type;
pub mod definition;
pub mod printer;
mod endpoint;
pub mod scale;
pub mod core;
pub mod apps;
pub mod batch;
pub mod autoscaling;
pub mod policy;
pub mod networking;
pub mod discovery;
pub mod storage;
pub mod rbac;
pub mod scheduling;
pub mod lifecycle;
pub mod storagemigration;
pub mod node;
pub mod coordination;
pub mod certificates;
pub mod admission;
pub mod apiextensions;
pub mod apiregistration;
pub mod resource;
pub mod flowcontrol;
pub mod authentication;
pub mod authorization;
pub mod events;
pub mod usage;
mod all;
pub mod registry;
pub mod metrics;
mod initial_objects;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use self::{
    accepted::AcceptedObject,
    all::{built_in, storage_of},
    habits::{Habits, MetadataRechecks, PreservedMetadata, Removal},
    initial_objects::{initial_object, initial_objects, uid_of as initial_uid},
    kind::{Kind, KindRef, STORED_VERSION},
    resource_type::{ResourceType, Subresource},
    selectable_field::{SelectableField, SelectableFields},
    validation::Validation,
    verdict::Verdict,
};
