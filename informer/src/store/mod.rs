//! Seams to a cache: the one that a reflector writes to, and the one that everything else reads from.

mod delta;

use crate::object::{Object, ObjectKey, ResourceVersion};

pub use self::delta::{Delta, Replacement};

/// The target of a reflector: takes changes in the order of the server.
///
/// # Cancel safety
///
/// A write that was dropped before it resolved has not happened.
pub trait ReflectorStore<K>: Send + 'static {
    /// Takes one change.
    ///
    /// # Errors
    ///
    /// [`StoreClosed`] once the owner of the store is gone.
    fn write(&mut self, delta: Delta<K>) -> impl Future<Output = Result<(), StoreClosed>> + Send;
}

/// The store's owner is gone: nothing more can be written, and the writer should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store is closed")]
pub struct StoreClosed;

/// A cache, for reading. A reader never waits for the writer.
pub trait Store<K>: Send + Sync {
    /// Returns the object under `key`.
    fn get(&self, key: &ObjectKey) -> Option<Object<K>>;

    /// Returns all objects, in order of their keys, as of one moment.
    fn list(&self) -> Vec<Object<K>>;

    /// Returns the version at which this copy of the selection stands: every change up to it is visible. Unknown before the
    /// first list.
    #[doc(alias = "LastStoreSyncResourceVersion")]
    fn resource_version(&self) -> ResourceVersion;
}
