//! Objects that the type at hand does not accept.

use std::sync::Arc;

use super::{ObjectKey, ResourceVersion};

/// Why an object could not be decoded. The same bytes give the same answer: trying again is useless.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot decode {key} at version {resource_version}")]
pub struct DecodeError {
    /// The object that was refused.
    pub key: ObjectKey,
    /// The version that was refused.
    pub resource_version: ResourceVersion,
    /// What the decoder said, with its place in the object.
    #[source]
    pub source: Arc<serde_json::Error>,
}
