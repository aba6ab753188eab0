//! Snapshot files that are accepted and rejected.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::FakeServer;

const FILE: &str = "state.jsonl";

fn snapshot() -> Snapshot {
    let config = json!({
        "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"}, "data": {"k": "é\n\""},
    });
    FakeServer::builder()
        .with_seed(7)
        .with_bootstrap(false)
        .with_object(&config)
        .build()
        .snapshot()
}

/// Saves to a file without a log.
fn save(data: &DataFile, take: impl FnOnce() -> Snapshot) {
    data.save((Revision::default(), 0), take).unwrap();
}

fn parse(bytes: &[u8]) -> Result<Snapshot, String> {
    let parsed = format::parse(Path::new(FILE), bytes);
    let snapshot = parsed.map(|(snapshot, _)| snapshot);
    snapshot.map_err(|error| error.to_string())
}

#[test]
fn written_snapshots_are_read_unchanged() {
    let snapshot = snapshot();
    let read = parse(&snapshot.to_bytes()).unwrap();
    assert_eq!(read, snapshot);
    assert_eq!((read.revision(), read.len()), (3, 2));
    assert!(!format!("{read:?}").contains("é"), "no contents in logs");
}

#[test]
fn a_file_that_breaks_off_anywhere_is_refused() {
    let bytes = snapshot().to_bytes();
    for length in 0..bytes.len() - 1 {
        let refused = parse(&bytes[..length]).unwrap_err();
        assert!(refused.starts_with("state.jsonl, line "), "{refused}");
    }
}

#[test]
fn a_file_that_was_changed_anywhere_is_refused() {
    let bytes = snapshot().to_bytes();
    for place in 0..bytes.len() - 1 {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(parse(&changed).is_err(), "byte {place}");
    }
}

#[test]
fn a_refusal_says_where_and_why() {
    let text = String::from_utf8(snapshot().to_bytes()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let without_end = lines[..lines.len() - 1].join("\n") + "\n";
    let twice =
        format!("{}\n{text}", lines[0].replace(":2}", ":3}")).replacen(lines[0], lines[1], 1);
    let ahead = text.replacen("\"revision\":3", "\"revision\":1", 1);
    for (file, message) in [
        (String::new(), "line 1: this is no snapshot of a fakeserver"),
        (
            "kind: Pod\n".to_owned(),
            "line 1: this is no snapshot of a fakeserver",
        ),
        (
            text.replacen("\"version\":1", "\"version\":2", 1),
            "line 1: format version 2 is newer than 1, the newest that this program knows",
        ),
        (
            without_end,
            "line 4: the file breaks off: its end is missing",
        ),
        (
            text.replacen("default", "defect", 1),
            "line 4: the file was changed after it was written: its checksum is another",
        ),
        (
            format!("{text}more\n"),
            "line 5: there is something behind the end",
        ),
        (
            ahead,
            "line 2: the object is of revision 3, and the snapshot of 1",
        ),
        (twice, "line 3: there are two objects "),
        (
            text.replacen("\"name\":", "\"nome\":", 1),
            "line 2: missing field `name`",
        ),
    ] {
        let refused = parse(file.as_bytes()).unwrap_err();
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn a_file_is_replaced_whole_or_stays() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(FILE);
    assert!(matches!(
        Snapshot::read(&file),
        Err(SnapshotError::NotRead { .. })
    ));
    snapshot().write(&file).unwrap();
    let other = FakeServer::builder().build().snapshot();
    other.write(&file).unwrap();
    assert_eq!(Snapshot::read(&file).unwrap(), other);
    let left: Vec<_> = std::fs::read_dir(&directory).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it: {left:?}");

    let nowhere = directory.path().join("no/such/directory");
    assert!(matches!(
        other.write(&nowhere),
        Err(SnapshotError::NotWritten { .. })
    ));
}

#[test]
fn a_data_file_is_locked_until_its_server_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(FILE);
    let first = DataFile::open(&file).unwrap();
    let refused = DataFile::open(&file).unwrap_err();
    assert!(refused.is_in_use(), "{refused}");
    assert!(
        refused
            .to_string()
            .ends_with("state.jsonl is in use by another server")
    );
    drop(first);
    DataFile::open(&file).unwrap();
}

#[test]
fn a_file_never_goes_back_to_an_older_state() {
    let directory = tempfile::tempdir().unwrap();
    let (data, _) = DataFile::open(&directory.path().join(FILE)).unwrap();
    let (old, new) = (FakeServer::builder().build().snapshot(), snapshot());
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        save(&data, || {
            scope.spawn(|| {
                save(&data, || {
                    sender.send(()).unwrap();
                    new.clone()
                });
            });
            let early = receiver.recv_timeout(std::time::Duration::from_millis(50));
            assert!(early.is_err(), "the other takes its own only after this");
            old.clone()
        });
    });
    let file = directory.path().join(FILE);
    assert_eq!(Snapshot::read(&file).unwrap(), new);
}

#[test]
fn a_partial_file_of_a_killed_server_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(FILE);
    let left = directory.path().join("state.jsonl.new");
    let saved = snapshot();
    let whole = saved.to_bytes();
    for length in [0, 5, 40, whole.len() / 2] {
        std::fs::write(&left, &whole[..length]).unwrap();
        let (data, _) = DataFile::open(&file).unwrap();
        std::fs::write(&left, &whole[..length]).unwrap();
        save(&data, || saved.clone());
        assert_eq!(Snapshot::read(&file).unwrap(), saved);
        assert!(!left.exists());
    }
}

#[test]
fn files_of_others_are_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(FILE);
    for name in ["state.jsonl.new", FILE] {
        let other = directory.path().join(name);
        std::fs::write(&other, "somebody's notes").unwrap();
        let error = DataFile::open(&file).unwrap_err();
        let message = format!("{error}: {:?}", std::error::Error::source(&error));
        assert!(message.contains("no snapshot"), "{message}");
        assert_eq!(std::fs::read(&other).unwrap(), b"somebody's notes");
        std::fs::remove_file(&other).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_same_file_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(FILE);
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(FILE, &link).unwrap();
    let saved = snapshot();
    for is_there in [false, true] {
        assert_eq!(file.exists(), is_there);
        let (data, _) = DataFile::open(&link).unwrap();
        assert!(DataFile::open(&file).unwrap_err().is_in_use());
        save(&data, || saved.clone());
        assert!(link.is_symlink());
        assert_eq!(Snapshot::read(&file).unwrap(), saved);
    }
}
