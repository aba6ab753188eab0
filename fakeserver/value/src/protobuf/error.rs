//! Errors of protobuf bodies.

/// Bytes that are no object, or an object that has no bytes.
///
/// A retry does not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtobufError {
    /// The bytes do not begin as Kubernetes' protobuf does; the message is the API server's.
    #[error(
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    )]
    NoPrefix,
    /// Nothing follows the prefix; the message is the API server's.
    #[error("empty body")]
    NoBody,
    /// The bytes break off or break the rules of protobuf.
    #[error("{message}.{field}: {what} at byte {offset}")]
    Malformed {
        /// The type that was being read.
        message: String,
        /// Its field, or the number of one that it does not have.
        field: String,
        /// The offset from the beginning of the body.
        offset: usize,
        /// The problem.
        what: String,
    },
    /// Messages nest too deeply.
    #[error("{message}.{field}: nested too deeply at byte {offset}")]
    TooDeep {
        /// The type that was being read.
        message: String,
        /// Its field.
        field: String,
        /// The offset from the beginning of the body.
        offset: usize,
    },
    /// More values than any object has.
    #[error("more than {values_max} values")]
    TooLarge {
        /// The number of values that are allowed.
        values_max: usize,
    },
    /// No built-in kind of that name; custom resources have no protobuf.
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownKind {
        /// The group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// A value does not fit its field.
    #[error("{message}.{field}: expected {expected}")]
    Unencodable {
        /// The type that was being written.
        message: String,
        /// Its field.
        field: String,
        /// The expected value.
        expected: &'static str,
    },
}

const _: () = assert!(size_of::<ProtobufError>() <= 96);
