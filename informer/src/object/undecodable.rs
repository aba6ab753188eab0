//! Objects that the type at hand does not accept.

use std::{fmt, sync::Arc};

use super::{ObjectKey, ResourceVersion};

/// The reason why an object could not be decoded. The same bytes give the same answer: retrying is useless.
#[derive(Clone, thiserror::Error)]
#[error("cannot decode {key} at version {resource_version}")]
pub struct DecodeError {
    /// The object that was refused.
    pub key: ObjectKey,
    /// The version that was refused.
    pub resource_version: ResourceVersion,
    /// The decoder's error, with its place in the object. It may quote the object: do not log it.
    #[source]
    pub source: Arc<serde_json::Error>,
}

// === impl DecodeError ===

impl fmt::Debug for DecodeError {
    /// Key, version and place, never what the decoder quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = (self.source.line(), self.source.column());
        let Self {
            key,
            resource_version: version,
            ..
        } = self;
        write!(
            f,
            "DecodeError({key}@{version}, line {line} column {column})"
        )
    }
}
