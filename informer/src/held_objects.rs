//! Seam: the objects that a store holds already, so that the same versions are not decoded again.

use crate::object::{Metadata, Object};

/// A read-only view of the objects that are held already.
///
/// A list item of equal key, uid and version *is* the handle that is held: it is neither decoded nor allocated again,
/// so that a relist of an unchanged cluster costs no second copy.
pub trait HeldObjects<K>: Send + Sync {
    /// Returns the handle that is held for exactly this version of this object.
    fn lookup(&self, metadata: &Metadata) -> Option<Object<K>>;
}

/// Holds nothing: every object is decoded.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHeldObjects;

// === impl NoHeldObjects ===

impl<K> HeldObjects<K> for NoHeldObjects {
    fn lookup(&self, _metadata: &Metadata) -> Option<Object<K>> {
        None
    }
}
