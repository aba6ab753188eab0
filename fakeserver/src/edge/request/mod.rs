//! Requests: parses path, query, headers and body into verbs, resources, options and objects.

mod header;
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
        BODY_MAX_BYTES, PatchType, is_protobuf, object_json, parse_delete_options, parse_patch,
        patch_type, read_body,
    },
    config::{duplicate_key, parse_config},
    header::header_text,
    options::ListOptions,
    path::{ApiPath, OpenApiPath},
    query::{Query, is_well_escaped},
    time_limit::{REQUEST_LIMIT, time_limit},
    write_options::{apply_options, delete_options, write_options},
};
