//! The shell: one writer that publishes, readers that load what was published last.

use std::{fmt, sync::Arc};

use super::{IndexFn, IndexerError, RecountError, Snapshot, snapshot::IndexFailure};
use crate::{
    held_objects::HeldObjects,
    object::{DecodeError, Metadata, Object, ObjectKey, ResourceVersion},
    store::Store,
    sync::ArcSwap,
};

/// Reads an indexer. Cheap to clone; reading never waits and never blocks the writer.
///
/// Each call answers from what was published last; for several questions about one moment, ask a
/// [`snapshot`](Self::snapshot).
#[doc(alias = "ThreadSafeStore")]
#[doc(alias = "TypedIndexer")]
pub struct Indexer<K>(Arc<ArcSwap<Snapshot<K>>>);

/// Changes an indexer. There is one for each.
#[doc(alias = "ThreadSafeStoreWithTransaction")]
#[doc(alias = "TransactionStore")]
pub struct IndexerWriter<K>(Arc<ArcSwap<Snapshot<K>>>);

// === impl IndexerWriter ===

impl<K> IndexerWriter<K> {
    /// The writer of a new, empty indexer.
    pub fn new() -> Self {
        Self(Arc::new(ArcSwap::from_pointee(Snapshot::new())))
    }

    /// Another writer of the indexer that `reader` reads, for when the last one has ended. Readers notice nothing.
    ///
    /// There must not be two at once: what one writes, the other takes back.
    pub(crate) fn succeeding(reader: &Indexer<K>) -> Self {
        Self(Arc::clone(&reader.0))
    }

    /// A reader.
    pub fn reader(&self) -> Indexer<K> {
        Indexer(Arc::clone(&self.0))
    }

    /// Edits a copy of what is held and publishes it, once; readers see all of the edit or nothing.
    ///
    /// # Panics
    ///
    /// If `edit` panics; then nothing is published.
    #[doc(alias = "Transaction")]
    pub fn write<T>(&mut self, edit: impl FnOnce(&mut Snapshot<K>) -> T) -> T {
        let mut draft = Snapshot::clone(&self.0.load());
        let outcome = edit(&mut draft);
        warn_of(draft.take_failures());
        self.0.store(Arc::new(draft));
        outcome
    }

    /// Adds an index over the objects that are held and those that will be. It may be added at any time.
    ///
    /// # Errors
    ///
    /// There is an index of this name.
    pub fn add_index(
        &mut self,
        name: impl Into<Arc<str>>,
        function: IndexFn<K>,
    ) -> Result<(), IndexerError> {
        self.write(|draft| draft.add_index(name, function))
    }

    /// Removes an index, at any time. Snapshots that were taken before still have it.
    ///
    /// # Errors
    ///
    /// There is no such index, or it is the one that every indexer has; nothing was changed.
    pub fn remove_index(&mut self, name: &str) -> Result<(), IndexerError> {
        self.write(|draft| draft.remove_index(name))
    }
}

fn warn_of(failures: Vec<IndexFailure>) {
    for failure in failures {
        tracing::warn!(
            index = %failure.index,
            key = %failure.key,
            error = %failure.reason,
            "object not indexed",
        );
    }
}

impl<K> Default for IndexerWriter<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for IndexerWriter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexerWriter")
            .field(&self.0.load())
            .finish()
    }
}

// === impl Indexer ===

impl<K> Indexer<K> {
    /// Returns the contents, as of one moment.
    pub fn snapshot(&self) -> Arc<Snapshot<K>> {
        self.0.load_full()
    }

    /// Returns the object under `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<Object<K>> {
        self.0.load().get(key).cloned()
    }

    /// Returns the object of this name. The namespace of cluster-scoped objects is empty.
    pub fn get_by_name(&self, namespace: &str, name: &str) -> Option<Object<K>> {
        self.0.load().get_by_name(namespace, name).cloned()
    }

    /// Returns all objects in order of their keys.
    pub fn list(&self) -> Vec<Object<K>> {
        self.0.load().iter().cloned().collect()
    }

    /// Returns the objects of one namespace in order of their names. The namespace of cluster-scoped objects is empty.
    pub fn namespace(&self, namespace: &str) -> Vec<Object<K>> {
        self.0.load().namespace(namespace).cloned().collect()
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.0.load().len()
    }

    /// Returns whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// See [`Snapshot::by_index`].
    ///
    /// # Errors
    ///
    /// [`IndexerError::UnknownIndex`] if there is no such index.
    #[doc(alias = "ByIndex")]
    pub fn by_index(&self, name: &str, value: &str) -> Result<Vec<Object<K>>, IndexerError> {
        self.0.load().by_index(name, value)
    }

    /// See [`Snapshot::index_keys`].
    ///
    /// # Errors
    ///
    /// [`IndexerError::UnknownIndex`] if there is no such index.
    #[doc(alias = "IndexKeys")]
    pub fn index_keys(&self, name: &str, value: &str) -> Result<Vec<ObjectKey>, IndexerError> {
        self.0.load().index_keys(name, value)
    }

    /// See [`Snapshot::list_index_values`].
    ///
    /// # Errors
    ///
    /// [`IndexerError::UnknownIndex`] if there is no such index.
    #[doc(alias = "ListIndexFuncValues")]
    pub fn list_index_values(&self, name: &str) -> Result<Vec<Arc<str>>, IndexerError> {
        self.0.load().list_index_values(name)
    }

    /// See [`Snapshot::undecodable`].
    pub fn undecodable(&self) -> Vec<DecodeError> {
        self.0.load().undecodable().cloned().collect()
    }

    /// Returns the version of the content: every change up to it is visible.
    #[doc(alias = "LastStoreSyncResourceVersion")]
    pub fn resource_version(&self) -> ResourceVersion {
        self.0.load().resource_version().clone()
    }

    /// See [`Snapshot::recount`].
    ///
    /// # Errors
    ///
    /// The first difference that was found.
    pub fn recount(&self) -> Result<(), RecountError> {
        self.snapshot().recount()
    }
}

impl<K: Send + Sync> Store<K> for Indexer<K> {
    fn get(&self, key: &ObjectKey) -> Option<Object<K>> {
        self.get(key)
    }

    fn list(&self) -> Vec<Object<K>> {
        self.list()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.resource_version()
    }
}

impl<K: Send + Sync> HeldObjects<K> for Indexer<K> {
    fn lookup(&self, metadata: &Metadata) -> Option<Object<K>> {
        let snapshot = self.0.load();
        let object = snapshot.get(&metadata.key)?;
        let is_exact = !metadata.resource_version.is_unknown()
            && *object.resource_version() == metadata.resource_version
            && object.uid() == &*metadata.uid;
        is_exact.then(|| object.clone())
    }
}

impl<K> Clone for Indexer<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for Indexer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Indexer").field(&self.0.load()).finish()
    }
}
