//! Reviews of tokens.

use crate::kinds::Kind;

/// Reviews of tokens.
pub(crate) static KIND: Kind = Kind::new("authentication.k8s.io", "tokenreviews");
