//! Values that the API exchanges, and functions of them that need no store and no connection.

pub(crate) mod revision;
pub(crate) mod go_text;
pub(crate) mod status;
pub(crate) mod names;
pub(crate) mod similar;
pub(crate) mod pattern;
pub(crate) mod resource;
pub(crate) mod resource_path;
pub(crate) mod user;
pub(crate) mod audit_annotations;
pub(crate) mod pool;
pub(crate) mod object;
pub(crate) mod json;
pub mod schema;
pub mod protobuf;
pub mod cbor;
pub mod patch;
pub(crate) mod edit;
pub(crate) mod field;
pub(crate) mod difference;
pub(crate) mod findings;
pub(crate) mod parse;
pub(crate) mod served_form;
pub(crate) mod managed_fields;
pub(crate) mod apply;
