//! Bindings of pods to nodes, which are only created.

use crate::kinds::Kind;

/// Bindings of pods to nodes, which are only created.
pub(crate) static KIND: Kind = Kind::new("", "bindings");
