//! Reviews of the access of the client that asks.

use crate::kinds::Kind;

/// Reviews of the access of the client that asks.
pub(crate) static KIND: Kind = Kind::new("authorization.k8s.io", "selfsubjectaccessreviews");
