//! Logs that are read, cut and refused.

use crate::{LogScan, SnapshotId, record, records_after, scan, scan::head};

/// A log of four records, the first two of which were synced before the others were written.
fn log() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = head("mark", 7);
    let mut ends = vec![bytes.len()];
    for (sequence, synced) in [(8, 7), (9, 8), (10, 9), (11, 9)] {
        record::print(&mut bytes, sequence, synced, |out| {
            out.extend_from_slice(format!("{{\"revision\":{sequence}}}").as_bytes());
        });
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn numbers(scan: &LogScan<'_>) -> Vec<u64> {
    scan.records.iter().map(|record| record.sequence).collect()
}

#[test]
fn a_log_is_read_as_it_was_written() {
    let (bytes, _) = log();
    let scan = scan(&bytes).unwrap();
    assert_eq!((&*scan.base, scan.sequence), ("mark", 7));
    assert_eq!(numbers(&scan), [8, 9, 10, 11]);
    assert_eq!(scan.records[0].payload, b"{\"revision\":8}");
    assert_eq!(scan.torn, None);
}

#[test]
fn a_log_that_breaks_off_is_cut_at_its_last_record() {
    let (bytes, ends) = log();
    for length in ends[0]..bytes.len() {
        let scan = scan(&bytes[..length]).unwrap();
        let whole = ends.iter().filter(|end| **end <= length).count() - 1;
        assert_eq!(scan.records.len(), whole, "{length} bytes");
        let torn = scan.torn.map(|torn| (torn.offset, torn.bytes, torn.line));
        let expected =
            (length > ends[whole]).then(|| (ends[whole], length - ends[whole], whole + 2));
        assert_eq!(torn, expected, "{length} bytes");
    }
}

#[test]
fn a_changed_byte_is_refused_with_its_place() {
    let (bytes, ends) = log();
    for place in 0..bytes.len() - 1 {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        let line = ends.iter().filter(|end| **end <= place).count() + 1;
        let found = scan(&changed);
        match found {
            Err(damage) => {
                // A line that has lost its end, or has got another, is damaged where it begins.
                assert!(
                    damage.line == line || damage.line == line + 1,
                    "byte {place}: {damage}"
                );
                let starts = [&[0], &*ends].concat();
                assert_eq!(damage.offset, starts[damage.line - 1], "byte {place}");
            }
            // The name and the number of the snapshot are compared with it.
            Ok(read) if line == 1 => {
                let id = SnapshotId {
                    mark: "mark".to_owned(),
                    sequence: 7,
                    after: None,
                };
                assert!(records_after(&read, Some(&id)).is_err(), "byte {place}");
            }
            Ok(read) => panic!("byte {place}: {:?}", read.torn),
        }
    }
}

#[test]
fn a_hole_in_what_was_not_synced_is_cut_and_any_other_refused() {
    let (mut bytes, _) = log();
    let synced = bytes.len();
    for (sequence, length) in [(12, 2_000), (13, 10)] {
        record::print(&mut bytes, sequence, 11, |out| {
            out.extend(vec![b'y'; length]);
        });
    }
    bytes[1_024..1_536].fill(0);
    let read = scan(&bytes).unwrap();
    assert_eq!(numbers(&read), [8, 9, 10, 11]);
    assert_eq!(read.torn.unwrap().offset, synced);
    // A later record says that the one with the hole was synced.
    record::print(&mut bytes, 14, 13, |out| out.extend(b"{}"));
    let damage = scan(&bytes).unwrap_err();
    assert_eq!((damage.line, damage.offset), (6, synced));
    assert!(
        damage
            .reason
            .contains("the record 14 says that it was whole"),
        "{damage}"
    );
}

#[test]
fn records_that_are_missing_or_twice_are_refused() {
    let (bytes, ends) = log();
    let missing = [&bytes[..ends[1]], &bytes[ends[2]..]].concat();
    let damage = scan(&missing).unwrap_err();
    assert!(damage.to_string().contains("line 3 (byte"), "{damage}");
    assert!(
        damage.reason.contains("the number 10, and 9 is due"),
        "{damage}"
    );
    let twice = [&bytes[..ends[2]], &bytes[ends[1]..]].concat();
    assert!(
        scan(&twice)
            .unwrap_err()
            .reason
            .contains("the number 9, and 10 is due")
    );
}

#[test]
fn what_is_no_log_is_refused() {
    for (text, message) in [
        ("", "no log of a fakeserver"),
        ("notes\n", "no log of a fakeserver"),
        (
            "{\"format\":\"fakeserver.log\",\"version\":2,\"base\":\"m\",\"sequence\":1}\n",
            "format version 2 is newer",
        ),
    ] {
        let damage = scan(text.as_bytes()).unwrap_err();
        assert!(
            damage.line == 1 && damage.reason.contains(message),
            "{damage}"
        );
    }
}

#[test]
fn a_log_continues_its_snapshot_and_the_one_that_was_made_of_it() {
    let (bytes, _) = log();
    let scan = scan(&bytes).unwrap();
    let id = |mark: &str, sequence, after: Option<&str>| SnapshotId {
        mark: mark.to_owned(),
        sequence,
        after: after.map(str::to_owned),
    };
    for (snapshot, expected) in [
        (id("mark", 7, None), Some(4)),
        (id("new", 9, Some("mark")), Some(2)),
        (id("new", 20, Some("mark")), Some(0)),
        (id("new", 9, None), None),
        (id("new", 9, Some("other")), None),
        (id("mark", 8, None), None),
    ] {
        let found = records_after(&scan, Some(&snapshot)).map(<[_]>::len);
        assert_eq!(found.ok(), expected, "{snapshot:?}");
    }
    assert!(records_after(&scan, None).is_err());
}
