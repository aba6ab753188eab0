//! Reviews of the attributes of whoever asks.

use crate::kinds::Kind;

/// Reviews of the attributes of whoever asks.
pub(crate) static KIND: Kind = Kind::new("authentication.k8s.io", "selfsubjectreviews");
