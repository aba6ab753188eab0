use std::sync::Arc;

use crate::{fixtures::object, indexer::Snapshot, shared_informer::snapshot_iter::snapshot_iter};

/// Checks that a snapshot of `len` objects is read whole, in order of the keys, as it was when it was taken.
#[track_caller]
fn check(len: usize) {
    let mut snapshot = Snapshot::new();
    for n in 0..len {
        snapshot.insert(object(&format!("k{n:04}@1")));
    }
    let snapshot = Arc::new(snapshot);
    let mut objects = snapshot_iter(Arc::clone(&snapshot));
    for n in 0..len {
        assert_eq!(objects.len(), len - n);
        let object = objects.next().unwrap();
        assert_eq!(object.key().name(), format!("k{n:04}"));
    }
    assert!(objects.next().is_none());
    assert_eq!(objects.len(), 0);
    assert_eq!(Arc::strong_count(&snapshot), 1, "the snapshot is let go of");
}

#[test]
fn a_snapshot_of_any_size_is_read_whole_and_in_order() {
    for len in [0, 1, 127, 128, 129, 256, 300] {
        check(len);
    }
}
