//! Reviews of the access of a subject to a namespace.

use crate::Kind;

/// Reviews of the access of a subject to a namespace.
pub static KIND: Kind = Kind::new("authorization.k8s.io", "localsubjectaccessreviews");
