//! IP addresses.

use crate::kinds::Kind;

/// IP addresses.
pub(crate) static KIND: Kind = Kind::new("networking.k8s.io", "ipaddresses");
