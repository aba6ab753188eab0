//! Values that the API exchanges, and functions of them that need no store and no connection.
#![expect(
    clippy::new_without_default,
    clippy::return_self_not_must_use,
    missing_docs,
    reason = "the API of users is that of the crate `fakeserver`, whose items are all documented"
)]

pub mod revision;
pub mod go_text;
pub mod go_url;
pub mod go_duration;
pub mod status;
pub mod names;
pub mod similar;
pub mod string_formats;
pub mod pattern;
pub mod resource;
pub mod resource_path;
pub mod user;
pub mod audit_annotations;
pub mod pool;
pub mod read;
pub mod object;
pub mod json;
pub mod schema;
pub mod protobuf;
pub mod cbor;
pub mod yaml;
pub mod patch;
pub mod edit;
pub mod field;
pub mod go_values;
pub mod difference;
pub mod findings;
pub mod parse;
pub mod served_form;
pub mod managed_fields;
pub mod apply;
