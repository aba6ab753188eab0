//! Reviews of the requester's own attributes.

use crate::kinds::Kind;

/// Reviews of the requester's own attributes.
pub(crate) static KIND: Kind = Kind::new("authentication.k8s.io", "selfsubjectreviews");
