//! The indexer: one writer that publishes, readers that load what was published last.

use informer::{IndexFn, Indexer, Object, ObjectKey, ResourceVersion, stages::IndexerWriter};
use shuttle::thread;

use super::{check, object};

const NAME: &str = "a";
const INDEX: &str = "version";
const LAST: u64 = 4;

/// An indexer of one object, whose version is that of the whole, and that an index finds by it.
fn put(writer: &mut IndexerWriter<()>, version: u64) {
    writer.write(|draft| {
        draft.insert(object(NAME, version));
        draft.set_resource_version(ResourceVersion::new(version.to_string()));
    });
}

fn new() -> IndexerWriter<()> {
    let mut writer = IndexerWriter::new();
    let by_version =
        IndexFn::of_metadata(|metadata| [metadata.resource_version.as_str().to_owned()]);
    writer.add_index(INDEX, by_version).unwrap();
    put(&mut writer, 1);
    writer
}

/// Reads until the last version is there; each snapshot is whole, and none is older than the one before it.
fn read(reader: &Indexer<()>) {
    let mut last = 0;
    while last < LAST {
        let snapshot = reader.snapshot();
        snapshot.recount().unwrap();
        let version = snapshot.resource_version().as_str();
        let held = snapshot.get(&ObjectKey::cluster(NAME)).unwrap();
        assert_eq!(held.resource_version().as_str(), version);
        let found: Vec<Object<()>> = snapshot.by_index(INDEX, version).unwrap();
        assert!(found.len() == 1 && found[0].is_same(held));
        let version = version.parse().unwrap();
        assert!(version >= last, "{version} after {last}");
        last = version;
        thread::yield_now();
    }
}

#[test]
fn each_snapshot_is_whole_and_none_is_older_than_the_one_before() {
    check(2_000, || {
        let mut writer = new();
        let readers = [writer.reader(), writer.reader()];
        let readers = readers.map(|reader| thread::spawn(move || read(&reader)));
        for version in 2..=LAST {
            put(&mut writer, version);
        }
        for reader in readers {
            reader.join().unwrap();
        }
    });
}

#[test]
fn an_index_that_comes_late_is_whole_at_once() {
    check(2_000, || {
        let mut writer = IndexerWriter::new();
        put(&mut writer, 1);
        let reader = writer.reader();
        let looker = thread::spawn(move || {
            loop {
                let snapshot = reader.snapshot();
                let version = snapshot.resource_version().as_str();
                if let Ok(found) = snapshot.by_index(INDEX, version) {
                    assert_eq!(found.len(), 1);
                    return;
                }
                thread::yield_now();
            }
        });
        put(&mut writer, 2);
        let by_version =
            IndexFn::of_metadata(|metadata| [metadata.resource_version.as_str().to_owned()]);
        writer.add_index(INDEX, by_version).unwrap();
        put(&mut writer, 3);
        looker.join().unwrap();
    });
}
