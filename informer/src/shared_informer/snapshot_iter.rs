//! The objects of a snapshot, read as they are needed.

use std::{sync::Arc, vec};

use crate::{indexer::Snapshot, object::Object, processor::PresentObjects};

/// The number of objects that are read at once.
const CHUNK_LEN: usize = 128;

/// Owns its snapshot, so that it can outlive what it was made from; lets go of it at the end.
struct SnapshotIter<K> {
    snapshot: Option<Arc<Snapshot<K>>>,
    chunk: vec::IntoIter<Object<K>>,
    /// The number of objects after the chunk.
    rest_len: usize,
}

/// The objects of `snapshot` in order of their keys.
pub(super) fn snapshot_iter<K: Send + Sync + 'static>(
    snapshot: Arc<Snapshot<K>>,
) -> PresentObjects<K> {
    let rest_len = snapshot.len();
    let mut objects = SnapshotIter {
        snapshot: Some(snapshot),
        chunk: Vec::new().into_iter(),
        rest_len,
    };
    objects.read_after(None);
    Box::new(objects)
}

// === impl SnapshotIter ===

impl<K> SnapshotIter<K> {
    fn read_after(&mut self, last: Option<&Object<K>>) {
        let Some(snapshot) = &self.snapshot else {
            return;
        };
        let objects = snapshot.iter_after(last.map(Object::key));
        let chunk: Vec<_> = objects.take(CHUNK_LEN).cloned().collect();
        self.rest_len -= chunk.len();
        self.chunk = chunk.into_iter();
        if self.rest_len == 0 {
            self.snapshot = None;
        }
    }
}

impl<K> Iterator for SnapshotIter<K> {
    type Item = Object<K>;

    fn next(&mut self) -> Option<Object<K>> {
        let object = self.chunk.next()?;
        if self.chunk.len() == 0 {
            self.read_after(Some(&object));
        }
        Some(object)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.chunk.len() + self.rest_len;
        (len, Some(len))
    }
}

impl<K> ExactSizeIterator for SnapshotIter<K> {}
