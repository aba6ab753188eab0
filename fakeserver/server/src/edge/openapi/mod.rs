//! OpenAPI documents of types and paths: version 3 for each group and version, version 2 as a whole.
//!
//! Documents are built from what the server itself uses: the structural schemas of the built-in kinds, the schemas of
//! custom resources, and the registry with its verbs. [`operation_builder`] lists the paths, [`definitions`] the types that they refer
//! to; [`items`], [`v2`] and [`v3`] write both down. `kubectl explain` reads the types. `kubectl apply` reads how lists
//! merge. `kubectl create` reads whether an operation has the parameter `fieldValidation`.
//!
//! [`Documents`] are those of one state of the registry. Each is built on first use; those of the built-in groups once
//! a process. Most descriptions are left out: the schemas have none. Those of
//! [`metadata`] are the project's own.

mod metadata;
mod definitions;
mod custom;
mod parameters;
mod operations;
mod operation_builder;
mod items;
mod v2;
mod v3;
mod protobuf;
mod document;
mod remote;
mod documents;
mod serve;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    document::Document,
    documents::{Documents, DocumentsCache, MergedDocuments},
    remote::{RemoteSpec, index_entry},
    serve::serve,
};
