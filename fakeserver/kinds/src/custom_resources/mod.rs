//! Resources that are defined at run time, by objects of kind `CustomResourceDefinition`.
//!
//! A [`Definition`](crate::definition::Definition) is such an object, parsed. Each of its served versions is a
//! [`ResourceType`](crate::ResourceType) with a [`CustomType`], which parses and validates objects by the
//! version's schema: it prunes unknown fields, fills in defaults, and evaluates rules in CEL. `acceptance` validates
//! a definition, [`conditions`] computes its status, and a [`Conversion`] names the webhook that converts between
//! versions. All of this is pure: other modules call webhooks and write to the store.

mod acceptance;
pub mod conditions;
mod conversion;
mod custom_type;
mod defaulting;
mod field_path;
mod json_path;
mod column_path;
mod printer_column;
mod deprecation;
mod rules;
mod stored_form;
mod table;
mod validation;
mod scale;
mod versions;
#[cfg(test)]
mod tests;

pub use self::{
    acceptance::{definition_errors, definition_warnings, set_definition_defaults, status_errors},
    column_path::ColumnPath,
    conversion::Conversion,
    custom_type::CustomType,
    json_path::JsonPath,
    printer_column::PrinterColumn,
    scale::{CustomScale, ScaleParts},
    validation::embedded::read_metadata,
    versions::compare_versions,
};

/// The group of definitions.
pub const GROUP: &str = "apiextensions.k8s.io";
/// Their version.
pub const VERSION: &str = "v1";
/// Holds a deleted definition until its objects are gone.
pub const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
