//! Seam: what is already held, so that it need not be decoded again.

use crate::object::{Metadata, Object};

/// A read-only view of the objects at hand.
///
/// A list item of equal key, uid and version *is* the handle that is held: it is neither decoded nor allocated again,
/// so that a relist of an unchanged cluster costs no second copy.
pub trait Known<K>: Send + Sync {
    /// The handle that is held for exactly this version of this object.
    fn lookup(&self, metadata: &Metadata) -> Option<Object<K>>;
}

/// Knows nothing: everything is decoded.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownNothing;

// === impl KnownNothing ===

impl<K> Known<K> for KnownNothing {
    fn lookup(&self, _metadata: &Metadata) -> Option<Object<K>> {
        None
    }
}
