//! The defects of a message.

/// An error of bytes that are not the protobuf message that was expected. It names the place, and shows no content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}{field}: {what}", if field.is_empty() { "" } else { "." })]
pub(crate) struct MalformedProtobuf {
    /// The message, as in `v1.Pod`.
    pub(crate) message: String,
    /// The field; empty if it is not known.
    pub(crate) field: &'static str,
    pub(crate) what: Defect,
}

/// A defect of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Defect {
    #[error("unexpected end")]
    Truncated,
    #[error("invalid variable-length integer")]
    Integer,
    #[error("invalid tag")]
    Tag,
    #[error("wrong wire type")]
    WireType,
    #[error("more than {} messages in each other", super::check::DEPTH_MAX)]
    TooDeep,
    #[error("no prefix of an object")]
    NoPrefix,
}
