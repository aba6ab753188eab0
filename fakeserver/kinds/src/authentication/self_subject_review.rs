//! Reviews of the requester's own attributes.

use crate::Kind;

/// Reviews of the requester's own attributes.
pub static KIND: Kind = Kind::new("authentication.k8s.io", "selfsubjectreviews");
