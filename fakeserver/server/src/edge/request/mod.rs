//! Requests: parses path, query, headers and body into verbs, resources, options and objects.

mod header;
mod media_types;
mod features;
mod body;
mod config;
mod options;
mod write_options;
mod path;
mod query;
mod time_limit;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    body::{
        BODY_MAX_BYTES, BodyFormat, PatchType, parse_delete_options, parse_patch, patch_type,
        read_body,
    },
    config::parse_cbor_config,
    features::{FeatureSettings, Features},
    header::header_text,
    media_types::MediaTypes,
    options::ListOptions,
    path::{ApiPath, OpenApiPath},
    query::{LongQuery, is_well_escaped, query_text},
    time_limit::{REQUEST_LIMIT, time_limit},
    write_options::{apply_options, delete_options, write_options},
};
pub use self::{
    config::{duplicate_key, parse_config},
    features::Feature,
    query::Query,
};
