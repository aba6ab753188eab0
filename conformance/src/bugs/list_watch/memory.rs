//! The memory of a wrong `ListWatch` from one request to the next.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use informer::{
    Metadata, Object, ObjectKey, ResourceVersion,
    list_watch::{HeldObjects, ListPage},
};

/// The memory that a `ListWatch` and its streams share.
pub(super) struct Memory<K, S>(Arc<Mutex<MemoryState<K, S>>>);

struct MemoryState<K, S> {
    /// The version of the last whole state.
    listed: Option<ResourceVersion>,
    /// The objects of earlier lists.
    staged: Vec<Object<K>>,
    /// The last known state of each key.
    seen: BTreeMap<ObjectKey, Object<K>>,
    uids: BTreeMap<ObjectKey, Arc<str>>,
    /// Streams without a reader.
    streams: Vec<S>,
}

/// A [`HeldObjects`] that compares objects by their keys alone.
pub(super) struct ByKey<K>(pub(super) BTreeMap<ObjectKey, Object<K>>);

// === impl Memory ===

impl<K, S> Memory<K, S> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(MemoryState {
            listed: None,
            staged: Vec::new(),
            seen: BTreeMap::new(),
            uids: BTreeMap::new(),
            streams: Vec::new(),
        })))
    }

    pub(super) fn note_list(&self, version: &ResourceVersion) {
        self.lock().listed = Some(version.clone());
    }

    pub(super) fn listed(&self) -> Option<ResourceVersion> {
        self.lock().listed.clone()
    }

    /// Keeps the objects of a page. With a first page, returns the ones that were kept before.
    pub(super) fn staged(&self, page: &ListPage<K>, is_later: bool) -> Vec<Object<K>> {
        let mut own = self.lock();
        let before = if is_later {
            Vec::new()
        } else {
            own.staged.clone()
        };
        own.staged.extend(page.items.iter().flatten().cloned());
        before
    }

    pub(super) fn note(&self, object: &Object<K>) {
        self.lock()
            .seen
            .insert(object.key().clone(), object.clone());
    }

    pub(super) fn seen(&self) -> BTreeMap<ObjectKey, Object<K>> {
        self.lock().seen.clone()
    }

    /// Returns the uid that was seen first under the object's key.
    pub(super) fn first_uid(&self, object: &Object<K>) -> Arc<str> {
        let mut own = self.lock();
        let uid = own.uids.entry(object.key().clone());
        Arc::clone(uid.or_insert_with(|| object.uid().into()))
    }

    pub(super) fn keep_open(&self, stream: S) {
        self.lock().streams.push(stream);
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState<K, S>> {
        self.0.lock().expect("no holder panics")
    }
}

impl<K, S> Clone for Memory<K, S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, S> fmt::Debug for Memory<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

// === impl ByKey ===

impl<K: Send + Sync> HeldObjects<K> for ByKey<K> {
    fn lookup(&self, metadata: &Metadata) -> Option<Object<K>> {
        self.0.get(&metadata.key).cloned()
    }
}
