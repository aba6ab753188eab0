//! Databases, whole and damaged.

use super::golden::DATABASES;
use crate::Database;

#[test]
fn golden_databases_have_their_revisions() {
    let [earlier, later] = &DATABASES[..] else {
        panic!("there are two");
    };
    let database = Database::read(&later.file).unwrap();
    assert_eq!(database.compacted, Some(525));
    assert!(!database.is_checked);
    let records = &database.records;
    assert!(records.is_sorted_by_key(|record| record.key));
    let key = records
        .iter()
        .find(|record| record.key == b"compact_rev_key");
    let key = key.unwrap();
    assert_eq!(
        (key.create_revision, key.mod_revision, key.version),
        (344, 585, 5)
    );
    assert_eq!((key.value, key.lease), (&b"525"[..], 0));
    let with_lease = records.iter().filter(|record| record.lease != 0);
    let leases: Vec<i64> = with_lease.map(|record| record.lease).collect();
    assert!(!leases.is_empty());
    let granted = |id: &i64| database.leases.iter().any(|lease| lease.id == *id);
    assert!(leases.iter().all(granted));
    assert!(Database::read(&earlier.file).unwrap().revision >= 486);
}
