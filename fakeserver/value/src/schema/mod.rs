//! The built-in types, and the reading of a request's body as one of them.
//!
//! Two tables for each version of Kubernetes, both embedded and read on first use, describe its types from two sides:
//!
//! - [`schemas_in`]: the structural schemas, as OpenAPI shows them: properties, required fields, enums, defaults, and how
//!   lists and maps merge. Strategic merge patch, server-side apply and validation walk them. The schema of a custom
//!   resource is parsed into the same form ([`Schemas::of_custom_resource`]).
//! - [`types_in`]: the Go structs behind them: protobuf numbers, pointers, `omitempty`. An answer has the form
//!   that these structs print. So decoding ([`decode()`]) and printing ([`canonical()`]) follow them exactly, down to
//!   the error messages.
//!
//! This module does not depend on storage or HTTP.

mod error;
mod type_meta;
mod base64;
mod time;
mod quantity;
mod types;
mod canonical;
mod internal;
mod go_syntax;
mod go_order;
mod member;
mod decode;
mod restore;
mod arena;
mod load;
mod walk;

// For the property tests of this crate and of those above it.
#[doc(hidden)]
pub mod arbitrary;
#[cfg(test)]
mod tests;

use fakeserver_versions::KubernetesVersion;

pub use self::{
    arena::{ListType, PatchStrategy, Schema, SchemaId, SchemaType, Schemas, schemas, schemas_in},
    base64::{Base64Error, decode as decode_base64, encode as encode_base64},
    canonical::{as_printed, canonical, canonical_field, has_empty},
    decode::{DecodedObject, decode, duplicate_fields, print_double},
    error::{DecodeError, StrictError, cannot_be_handled_as, strict_decoding_error, unrecognized},
    quantity::{Quantity, QuantityError},
    restore::restore,
    time::{
        Precision, TimeError, is_zero as is_zero_time, parse as parse_time,
        parse_civil as parse_civil_time, print as print_time,
    },
    type_meta::{TypeMeta, type_meta},
    types::{Field, FieldValue, Form, OmitRule, Shape, Type, TypeId, TypeTable, types, types_in},
    walk::{Descent, Step, print_path, prune, unknown_fields, walk},
};
pub use self::{
    decode::Document,
    go_order::{PatchedParts, print_in_go_order},
    go_syntax::{
        element_syntax, field_syntax, go_syntax, quantity_syntax, raw_extension, time_text,
    },
    internal::internal_form,
};

/// The type of a kind in the default version of Kubernetes, for those who have no server.
pub fn type_of_kind(group: &str, version: &str, kind: &str) -> Option<TypeId> {
    type_in(KubernetesVersion::DEFAULT, group, version, kind)
}

/// The type of a kind in a version of Kubernetes, for reading and printing it.
///
/// The kinds that every group shares, such as `DeleteOptions`, are found in any group and version.
pub fn type_in(
    kubernetes: KubernetesVersion,
    group: &str,
    version: &str,
    kind: &str,
) -> Option<TypeId> {
    let table = types_in(kubernetes);
    let own = schemas_in(kubernetes)
        .definition_name(group, version, kind)
        .and_then(|name| table.find(name));
    own.or_else(|| match kind {
        "Status"
        | "APIVersions"
        | "APIGroup"
        | "APIGroupList"
        | "APIResourceList"
        | "WatchEvent"
        | "ListOptions"
        | "GetOptions"
        | "CreateOptions"
        | "UpdateOptions"
        | "PatchOptions"
        | "DeleteOptions"
        | "PartialObjectMetadata"
        | "PartialObjectMetadataList" => table.meta(kind),
        _ => None,
    })
}
