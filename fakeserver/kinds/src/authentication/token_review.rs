//! Reviews of tokens.

use crate::Kind;

/// Reviews of tokens.
pub static KIND: Kind = Kind::new("authentication.k8s.io", "tokenreviews");
