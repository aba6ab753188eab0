//! The kind and version that a body names, which the API server reads first.

use super::error::DecodeError;
use crate::json::{self, Json};

/// The `kind` and `apiVersion` of a body; empty if absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: metav1.TypeMeta"
)]
pub struct TypeMeta {
    /// The kind.
    pub kind: String,
    /// The group and version.
    pub api_version: String,
}

/// Reads the kind and version of a body, which the API server does first.
///
/// # Errors
/// The body is no JSON object, or these two are no strings.
pub fn type_meta(body: &[u8]) -> Result<TypeMeta, DecodeError> {
    const STRUCT: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let mut meta = TypeMeta::default();
    let pairs = match json::parse(body)? {
        Json::Object(pairs) => pairs,
        Json::Null => return Ok(meta),
        other => {
            let message = format!(
                "json: cannot unmarshal {} into Go value of type {STRUCT}",
                other.kind_name()
            );
            return Err(DecodeError::Mismatch { message });
        }
    };
    for (key, value) in pairs {
        let target = match &*key {
            "kind" => &mut meta.kind,
            "apiVersion" => &mut meta.api_version,
            _ => continue,
        };
        match value {
            Json::String(text) => *target = text.into_owned(),
            Json::Null => {}
            other => {
                let message = format!(
                    "json: cannot unmarshal {} into Go struct field .{key} of type string",
                    other.kind_name()
                );
                return Err(DecodeError::Mismatch { message });
            }
        }
    }
    Ok(meta)
}
