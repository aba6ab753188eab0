//! Reviews of the access of a subject.

use crate::Kind;

/// Reviews of the access of a subject.
pub static KIND: Kind = Kind::new("authorization.k8s.io", "subjectaccessreviews");
