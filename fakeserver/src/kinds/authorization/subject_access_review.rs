//! Reviews of the access of a subject.

use crate::kinds::Kind;

/// Reviews of the access of a subject.
pub(crate) static KIND: Kind = Kind::new("authorization.k8s.io", "subjectaccessreviews");
