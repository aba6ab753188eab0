//! OpenAPI documents of types and paths: version 3 for each group and version, version 2 as a whole.
//!
//! Everything is made of what the server itself works by: the structural schemas of the built-in kinds, the schemas of
//! custom resources, and the registry with its verbs. [`operations`] tells which paths there are, [`definitions`] which
//! types they speak of; [`v2`] and [`v3`] write both down. `kubectl explain` reads the types, `kubectl apply` how lists
//! merge, `kubectl create` whether an operation knows the parameter `fieldValidation`.
//!
//! [`Documents`] are those of one state of the registry. Each is made when it is first asked for; those of the built-in
//! groups once a process. The deprecated paths below `/watch/` are left out, and so is most prose: the schemas have none.

mod definitions;
mod custom;
mod parameters;
mod operations;
mod v2;
mod v3;
mod protobuf;
mod document;
mod documents;
mod serve;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    document::Document,
    documents::{Documents, DocumentsCache},
    serve::serve,
};
