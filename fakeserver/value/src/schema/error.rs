//! Errors of a body, in the API server's words.

use std::fmt::{self, Write as _};

use crate::json::SyntaxError;

/// A field that only strict reading minds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: what fieldValidation looks for"
)]
pub enum StrictError {
    /// The type has no such field.
    UnknownField(String),
    /// The object has this field twice.
    DuplicateField(String),
}

/// A body that cannot be read as the type it should be; the messages are the API server's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The body is no JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A value does not fit its field.
    #[error("{message}")]
    Mismatch {
        /// Go's words for it.
        message: String,
    },
}

// === impl StrictError ===

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrictError::UnknownField(path) => write!(f, "unknown field \"{path}\""),
            StrictError::DuplicateField(path) => write!(f, "duplicate field \"{path}\""),
        }
    }
}

/// The message under `fieldValidation=Strict`.
pub fn strict_decoding_error(errors: &[StrictError]) -> String {
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    format!("strict decoding error: {}", errors.join(", "))
}

/// The message of a body that names its kind and cannot be read as the kind that the URL wants.
///
/// `version` is without its group.
pub fn cannot_be_handled_as(
    kind: &str,
    version: &str,
    wanted: &str,
    error: impl fmt::Display,
) -> String {
    format!("{kind} in version \"{version}\" cannot be handled as a {wanted}: {error}")
}

/// The message of a body whose kind cannot be found out.
pub fn unrecognized(wanted: &str, error: impl fmt::Display, body: &[u8]) -> String {
    format!(
        "the object provided is unrecognized (must be of type {wanted}): {error} ({})",
        summary(body)
    )
}

/// The first bytes of a body: JSON objects as text, anything else in hexadecimal.
fn summary(body: &[u8]) -> String {
    const BYTES_MAX: usize = 30;
    let cut = &body[..body.len().min(BYTES_MAX)];
    let dots = if body.len() > BYTES_MAX { " ..." } else { "" };
    match cut.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(cut)),
        Some(_) => {
            let mut hex = String::new();
            for byte in cut {
                write!(hex, "{byte:02x}").expect("a string takes all text");
            }
            format!("{hex}{dots}")
        }
    }
}
