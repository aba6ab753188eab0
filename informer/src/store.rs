//! Seams between the stages: what a reflector writes to, and what everybody else reads from.

use crate::object::{DecodeError, Object, ObjectKey, ResourceVersion};

/// Where a reflector puts what it hears. The order of calls is the order of the server.
///
/// # Cancel safety
///
/// A call that was dropped before it resolved has not happened.
pub trait ReflectorStore<K>: Send + 'static {
    /// The object is new on the server, or at least new to this watch.
    fn add(&mut self, object: Object<K>) -> impl Future<Output = Result<(), StoreClosed>> + Send;

    /// The object changed on the server.
    fn update(&mut self, object: Object<K>)
    -> impl Future<Output = Result<(), StoreClosed>> + Send;

    /// The object left the selection, in this last state.
    fn delete(&mut self, object: Object<K>)
    -> impl Future<Output = Result<(), StoreClosed>> + Send;

    /// A version of an object arrived that cannot be decoded: what is held under its key is out of date.
    fn undecodable(
        &mut self,
        error: DecodeError,
    ) -> impl Future<Output = Result<(), StoreClosed>> + Send;

    /// The object left the selection, and its last state cannot be decoded: its key is gone all the same.
    fn delete_undecodable(
        &mut self,
        error: DecodeError,
    ) -> impl Future<Output = Result<(), StoreClosed>> + Send;

    /// The whole state: whatever is not in it is gone.
    fn replace(
        &mut self,
        replacement: Replacement<K>,
    ) -> impl Future<Output = Result<(), StoreClosed>> + Send;

    /// Everything up to this version has been told.
    fn bookmark(
        &mut self,
        resource_version: ResourceVersion,
    ) -> impl Future<Output = Result<(), StoreClosed>> + Send;
}

/// The state of a selection at one version.
#[derive(Debug)]
#[non_exhaustive]
pub struct Replacement<K> {
    /// The objects, in no promised order.
    pub objects: Vec<Object<K>>,
    /// The objects that exist on the server but cannot be decoded.
    pub undecodable: Vec<DecodeError>,
    /// The version at which this is exact.
    pub resource_version: ResourceVersion,
    /// Whether the server was asked for its most recent state, so that this holds even where versions went back
    /// (a server restored from a backup).
    pub is_authoritative: bool,
}

/// The store's owner is gone: nothing more can be written, and the writer should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store is closed")]
pub struct StoreClosed;

/// What is held, for reading. A reader never waits for the writer.
pub trait Store<K>: Send + Sync {
    /// The object under `key`.
    fn get(&self, key: &ObjectKey) -> Option<Object<K>>;

    /// All objects, in order of their keys, as of one moment.
    fn list(&self) -> Vec<Object<K>>;

    /// The version at which this copy of the selection stands: every change up to it is visible. Unknown before the
    /// first list.
    #[doc(alias = "LastStoreSyncResourceVersion")]
    fn resource_version(&self) -> ResourceVersion;
}

// === impl Replacement ===

impl<K> Replacement<K> {
    /// The state `objects` at `resource_version`, not authoritative.
    pub fn new(objects: Vec<Object<K>>, resource_version: ResourceVersion) -> Self {
        Self {
            objects,
            undecodable: Vec::new(),
            resource_version,
            is_authoritative: false,
        }
    }
}
