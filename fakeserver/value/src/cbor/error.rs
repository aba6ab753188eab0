//! Errors of CBOR bodies.

use super::item::{Item, negated};

/// Bytes that are no acceptable CBOR, or a value that does not fit its type; the messages are the API server's.
///
/// A retry does not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CborError {
    /// The body is empty.
    #[error("EOF")]
    Empty,
    /// The bytes break off.
    #[error("unexpected EOF")]
    Truncated,
    /// The bytes break the rules of CBOR, or those of the API.
    #[error("cbor: {what}")]
    Unacceptable {
        /// The problem.
        what: String,
    },
    /// A value has another type than its field.
    #[error("cbor: cannot unmarshal {found} into Go {place} of type {go}{detail}")]
    Mismatch {
        /// The type of the value.
        found: &'static str,
        /// The place of the value: `value`, or `struct field v1.Pod.spec`.
        place: String,
        /// The name of the expected type in Go.
        go: String,
        /// The reason in parentheses after a space, or nothing.
        detail: String,
    },
    /// A map has a key that its type does not have.
    #[error("cbor: found unknown field at map element index {index}")]
    UnknownField {
        /// The position of the key in its map.
        index: usize,
    },
    /// A text is no valid value of its type.
    #[error("{message}")]
    Invalid {
        /// The message of the type.
        message: String,
    },
}

// === impl CborError ===

impl CborError {
    pub(super) fn unacceptable(what: impl Into<String>) -> Self {
        Self::Unacceptable { what: what.into() }
    }

    /// Creates the error of a data item that no field takes.
    pub(super) fn not_accepted(kind: &str, what: &str) -> Self {
        Self::unacceptable(format!(
            "data item of cbor type {kind} is not accepted by protocol: {what}"
        ))
    }

    /// Creates the error of a text that is not UTF-8.
    pub(super) fn not_text() -> Self {
        Self::unacceptable("invalid UTF-8 string")
    }

    pub(super) fn duplicate(key: &str, index: usize) -> Self {
        Self::unacceptable(format!(
            "found duplicate map key {key} at map element index {index}"
        ))
    }

    pub(super) fn invalid(error: impl std::fmt::Display) -> Self {
        Self::Invalid {
            message: error.to_string(),
        }
    }

    /// Creates the error of an item that is of another type than `go`.
    pub(super) fn mismatch(item: &Item<'_>, go: &str) -> Self {
        Self::mismatch_because(item, go, String::new())
    }

    /// Creates the error of an item that is of another type than `go`, with a reason. A number that no type of Go can hold
    /// has its own.
    pub(super) fn mismatch_because(item: &Item<'_>, go: &str, why: String) -> Self {
        let (why, error) = match item {
            Item::Text(None) => (why, Some(Self::not_text())),
            Item::Negative(number) if i64::try_from(*number).is_err() => {
                let number = negated(*number);
                (format!("{number} overflows Go's int64"), None)
            }
            _ => (why, item.unrecognized()),
        };
        if let Some(error) = error {
            return error;
        }
        let detail = if why.is_empty() {
            why
        } else {
            format!(" ({why})")
        };
        Self::Mismatch {
            found: item.kind(),
            place: "value".to_owned(),
            go: go.to_owned(),
            detail,
        }
    }

    /// Names the field that has the value. The outermost one is named last, and stays.
    pub(super) fn within(self, go: &str, field: &str) -> Self {
        match self {
            Self::Mismatch {
                found,
                go: wanted,
                detail,
                ..
            } => Self::Mismatch {
                found,
                place: format!("struct field {go}.{field}"),
                go: wanted,
                detail,
            },
            other => other,
        }
    }
}
