//! Errors of values.

use fakeserver_value::protobuf::ProtobufError;

/// A value that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The value is encrypted. Only what is stored as it is can be read: have the server rewrite the objects with the provider
    /// `identity` first.
    #[error(
        "the value is encrypted by the provider {provider:?}; only those of `identity` can be read: rewrite the object with it"
    )]
    Encrypted {
        /// The provider that the prefix of the value names.
        provider: String,
    },
    /// No known version of Kubernetes has the kind, or it is stored in a version whose form is unknown: store it in one that the
    /// server writes, by reading and writing it with kubectl.
    #[error("{api_version} {kind} is a kind, or a version of one, that is not known here")]
    UnknownKind {
        /// Group and version of the value.
        api_version: String,
        /// The kind of the value.
        kind: String,
    },
    /// The value is neither protobuf in its envelope nor JSON. It is damaged, or another program wrote it.
    #[error("the value is neither protobuf with the prefix `k8s` nor JSON")]
    UnknownEncoding,
    /// The protobuf is damaged, or on writing a field has no value of its type.
    #[error("the protobuf is wrong")]
    Protobuf(#[from] ProtobufError),
    /// The JSON is damaged, or has a value that is not of the type of its field.
    #[error("the JSON is wrong: {reason}")]
    Json {
        /// The problem, in the words of the API.
        reason: String,
    },
}

// === impl ValueError ===

impl ValueError {
    /// Returns whether the kind is the problem, and not the value: another version of this program may read it.
    pub fn is_unknown_kind(&self) -> bool {
        matches!(self, Self::UnknownKind { .. })
    }

    pub(super) fn json(reason: impl Into<String>) -> Self {
        Self::Json {
            reason: reason.into(),
        }
    }
}
