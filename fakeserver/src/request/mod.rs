//! What is asked: path, query, headers and body become verbs, resources, options and objects.

mod body;
mod config;
mod json_syntax;
mod options;
mod path;
mod query;
mod time_limit;
#[cfg(test)]
mod tests;

#[cfg(feature = "_fuzzing")]
pub(crate) use self::json_syntax::syntax_error;
pub(crate) use self::{
    body::{
        BODY_MAX_BYTES, PatchType, internal_package, is_protobuf, object_json,
        parse_delete_options, parse_json, parse_object, parse_patch, parse_protobuf, patch_type,
        read_body,
    },
    config::{duplicate_key, parse_config},
    options::{
        DeleteOptions, FieldValidation, ListOptions, Preconditions, Propagation, WriteOptions,
    },
    path::{ApiPath, OpenApiPath, ResourcePath},
    query::{Query, is_well_escaped},
    time_limit::{REQUEST_LIMIT, time_limit},
};
