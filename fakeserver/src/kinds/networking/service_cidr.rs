//! Ranges of service addresses.

use crate::kinds::Kind;

/// Ranges of service addresses.
pub(crate) static KIND: Kind = Kind::new("networking.k8s.io", "servicecidrs");
