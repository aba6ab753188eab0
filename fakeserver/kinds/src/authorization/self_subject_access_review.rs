//! Reviews of the access of the client that asks.

use crate::Kind;

/// Reviews of the access of the client that asks.
pub static KIND: Kind = Kind::new("authorization.k8s.io", "selfsubjectaccessreviews");
