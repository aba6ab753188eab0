//! Bindings of pods to nodes, which are only created.

use crate::Kind;

/// Bindings of pods to nodes, which are only created.
pub static KIND: Kind = Kind::new("", "bindings");
