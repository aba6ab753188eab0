//! The continue token of a paged list: a revision and the next path.

use base64::{
    DecodeError, Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use fakeserver_value::revision::Revision;
use serde::{Deserialize, Serialize};
use thiserror::Error;

const VERSION: &str = "meta.k8s.io/v1";
/// The revision of a token that continues at the latest state.
const LATEST: i64 = -1;

/// The decoder of the API: no padding, and trailing bits are ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// The place at which a paged list continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContinueToken {
    /// The state to read, or nothing for the latest.
    pub revision: Option<Revision>,
    /// The first path to read, relative to the list's namespace, if it has one.
    pub start: String,
}

/// The reason why a token cannot be read; the texts are the API's.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContinueTokenError {
    /// The token is no base64 or JSON, or its key is outside of the list.
    #[error("continue key is not valid: {0}")]
    Malformed(String),
    /// The token has no revision.
    #[error(
        "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"
    )]
    NoRevision,
    /// The token has no key.
    #[error("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")]
    NoStart,
    /// The token has another version.
    #[error("continue key is not valid: server does not recognize this encoded version {version}")]
    UnknownVersion {
        /// The version that it claims.
        version: String,
    },
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct EncodedToken {
    v: String,
    rv: i64,
    start: String,
}

// === impl ContinueToken ===

impl ContinueToken {
    /// Creates a token that continues behind `path`, at `revision`.
    pub fn after(path: &str, revision: Option<Revision>) -> Self {
        Self {
            revision,
            start: format!("{path}\0"),
        }
    }

    /// The text of the token.
    pub fn encode(&self) -> String {
        let encoded = EncodedToken {
            v: VERSION.to_owned(),
            rv: self.revision.map_or(LATEST, |revision| {
                i64::try_from(revision.get()).unwrap_or(i64::MAX)
            }),
            start: format!("/{}", self.start),
        };
        BASE64.encode(
            serde_json::to_vec(&encoded).expect("strings and numbers serialize into memory"),
        )
    }

    /// Reads a token that a client has sent.
    pub fn decode(text: &str) -> Result<Self, ContinueTokenError> {
        let bytes = BASE64.decode(text).map_err(|error| {
            ContinueTokenError::Malformed(format!(
                "illegal base64 data at input byte {}",
                offset(&error, text)
            ))
        })?;
        let encoded: EncodedToken = serde_json::from_slice(&bytes)
            .map_err(|error| ContinueTokenError::Malformed(json_error(&error, &bytes)))?;
        if encoded.v != VERSION {
            return Err(ContinueTokenError::UnknownVersion { version: encoded.v });
        }
        let revision = match encoded.rv {
            0 => return Err(ContinueTokenError::NoRevision),
            LATEST => None,
            rv => Some(Revision::new(
                u64::try_from(rv).map_err(|_| ContinueTokenError::NoRevision)?,
            )),
        };
        if encoded.start.is_empty() {
            return Err(ContinueTokenError::NoStart);
        }
        let start = encoded.start.strip_prefix('/').unwrap_or(&encoded.start);
        let clean = !start.is_empty()
            && start
                .split('/')
                .all(|part| !matches!(part, "" | "." | ".."));
        if !clean {
            return Err(ContinueTokenError::Malformed(encoded.start));
        }
        Ok(Self {
            revision,
            start: start.to_owned(),
        })
    }
}

/// Returns the offset at which the text stops being base64.
fn offset(error: &DecodeError, text: &str) -> usize {
    match error {
        DecodeError::InvalidByte(offset, _) | DecodeError::InvalidLastSymbol { offset, .. } => {
            *offset
        }
        _ => text.len(),
    }
}

/// The API's error for a document that is no token.
fn json_error(error: &serde_json::Error, bytes: &[u8]) -> String {
    use serde_json::error::Category;

    match error.classify() {
        Category::Eof => "unexpected end of JSON input".to_owned(),
        Category::Data => {
            "json: cannot unmarshal value into Go value of type storage.continueToken".to_owned()
        }
        Category::Syntax | Category::Io => {
            // Columns count bytes from 1; the API counts what it read as Latin-1 characters.
            let found = bytes
                .get(error.column().saturating_sub(1))
                .or(bytes.last())
                .copied()
                .unwrap_or_default();
            let found = match found {
                b'\'' => r"'\''".to_owned(),
                b'"' => "'\"'".to_owned(),
                b'\n' => r"'\n'".to_owned(),
                b'\r' => r"'\r'".to_owned(),
                b'\t' => r"'\t'".to_owned(),
                control @ (0..0x20 | 0x7f) => format!(r"'\x{control:02x}'"),
                control @ (0x80..=0xa0 | 0xad) => format!(r"'\u{control:04x}'"),
                printable => format!("'{}'", char::from(printable)),
            };
            format!("invalid character {found} looking for beginning of value")
        }
    }
}
