//! Reviews of the access of a subject to a namespace.

use crate::kinds::Kind;

/// Reviews of the access of a subject to a namespace.
pub(crate) static KIND: Kind = Kind::new("authorization.k8s.io", "localsubjectaccessreviews");
