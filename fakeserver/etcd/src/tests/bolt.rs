//! Databases, whole and damaged.
//!
//! `DAMAGED_SNAPSHOTS=100000 cargo test -p fakeserver-etcd damaged` damages as many.

use std::{collections::BTreeMap, env};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::IndexedRandom};

use super::golden::{DATABASES, unpacked};
use crate::{BoltError, Database, Layout};

/// The number of damaged files where `DAMAGED_SNAPSHOTS` does not say another.
const DAMAGED_COUNT: u64 = 3_000;
const PAGE_BYTES: usize = 4_096;
const DIGEST_BYTES: usize = 32;

/// A snapshot that `etcdctl snapshot save` of 3.4 wrote, after these: six transactions that put `k/0000` to `k/0599`; `b/0` to `b/4`,
/// with 6,000 bytes and 5,000 more each; the deletion of `k/0100` to `k/0199`; three puts of `k/0000`; `l/0` with a lease of an hour;
/// a compaction; the deletion of `k/0300`, and a put of `k/0301`.
fn snapshot() -> Vec<u8> {
    unpacked("snapshot-3.4.xz")
}

fn error(file: &[u8]) -> BoltError {
    Database::read(file).unwrap_err()
}

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

#[test]
fn a_snapshot_has_the_last_state_of_each_key() {
    let file = snapshot();
    let database = Database::read(&file).unwrap();
    assert!(database.is_checked);
    assert_eq!((database.revision, database.compacted), (19, Some(17)));
    let mut expected: BTreeMap<String, String> = (0..600)
        .filter(|number| !(100..200).contains(number) && *number != 300)
        .map(|number| (format!("k/{number:04}"), format!("value-{number}")))
        .collect();
    expected.insert("k/0000".to_owned(), "again-3".to_owned());
    expected.insert("k/0301".to_owned(), "after".to_owned());
    expected.insert("l/0".to_owned(), "leased".to_owned());
    expected
        .extend((0..5).map(|number| (format!("b/{number}"), "x".repeat(6_000 + 5_000 * number))));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let records = database.records.iter();
    let found = records
        .clone()
        .map(|record| (text(record.key), text(record.value)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
    let record = |key: &[u8]| *records.clone().find(|record| record.key == key).unwrap();
    let changed = record(b"k/0000");
    assert_eq!(
        (
            changed.create_revision,
            changed.mod_revision,
            changed.version
        ),
        (2, 16, 4)
    );
    let [lease] = database.leases[..] else {
        panic!("{:?}", database.leases);
    };
    assert_eq!((lease.id, lease.ttl_seconds), (record(b"l/0").lease, 3_600));
}

#[test]
fn damaged_places_are_named() {
    let whole = snapshot();
    let content = &whole[..whole.len() - DIGEST_BYTES];
    let mut changed = whole.clone();
    changed[PAGE_BYTES * 5] ^= 1;
    let wrong = error(&changed);
    assert_eq!(wrong.offset(), content.len() as u64);
    assert!(wrong.to_string().contains("SHA-256"), "{wrong}");
    let cut = error(&content[..content.len() - PAGE_BYTES]);
    assert!(cut.to_string().ends_with("it is cut off"), "{cut}");
    assert!(error(b"").to_string().contains("ends within"));
    assert!(error(&[7; 8_192]).to_string().contains("no bbolt file"));
    // One meta page is enough.
    let mut first = content.to_vec();
    first[20] ^= 0xff;
    assert!(Database::read(&first).is_ok());
    first[PAGE_BYTES + 20] ^= 0xff;
    assert_eq!((error(&first).page(), error(&first).offset()), (0, 20));
}

#[test]
fn a_page_that_leads_back_is_an_error() {
    let file = &DATABASES[1].file;
    let mut damaged = file.clone();
    // Branch pages name those below: all of them name the branch itself.
    let mut branches = 0;
    for start in (2 * PAGE_BYTES..file.len()).step_by(PAGE_BYTES) {
        let (id, flags) = (&file[start..start + 8], file[start + 8]);
        if flags == 1 && id == (start as u64 / PAGE_BYTES as u64).to_le_bytes() {
            let count = usize::from(file[start + 10]);
            for element in (0..count).map(|element| start + 16 + 16 * element) {
                damaged[element + 8..element + 16].copy_from_slice(id);
            }
            branches += 1;
        }
    }
    assert!(branches > 0);
    assert!(error(&damaged).to_string().contains("twice"));
}

/// Damages a file as disks and people do: bits, numbers, pages, its end.
fn damage(file: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..4) {
        let pages = file.len() / PAGE_BYTES;
        let page = random.random_range(0..pages) * PAGE_BYTES;
        // Heads of pages and of elements decide more than contents.
        let within = *[32, 256, PAGE_BYTES].choose(random).unwrap();
        let at = page + random.random_range(0..within - 8);
        match random.random_range(0..8) {
            0 | 1 => file[at] ^= 1 << random.random_range(0..8),
            2 => file[at..at + 8].fill(*[0, 0x7f, 0x80, 0xff].choose(random).unwrap()),
            3 => {
                let number = random.random_range(0..pages as u64 + 2);
                file[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
            4 => {
                let number = *[0, 1, 16, 4_095, 4_096, 65_535, u32::MAX]
                    .choose(random)
                    .unwrap();
                let at = at & !3;
                file[at..at + 4].copy_from_slice(&number.to_le_bytes());
            }
            5 => {
                let other = random.random_range(0..pages) * PAGE_BYTES;
                file.copy_within(other..other + PAGE_BYTES, page);
                // With the number of the place, so that it is read.
                if random.random() {
                    file[page..page + 8]
                        .copy_from_slice(&((page / PAGE_BYTES) as u64).to_le_bytes());
                }
            }
            6 => file[at..page + PAGE_BYTES].fill(0),
            _ => file.truncate(at.max(PAGE_BYTES)),
        }
    }
}

#[test]
fn damaged_files_are_errors_or_states_no_larger_than_they() {
    let count = match env::var("DAMAGED_SNAPSHOTS") {
        Ok(text) => text.parse().expect("DAMAGED_SNAPSHOTS is a number"),
        Err(_) => DAMAGED_COUNT,
    };
    let layout = Layout::default();
    let whole = snapshot();
    let golden = &DATABASES[1];
    let files = [&whole[..whole.len() - DIGEST_BYTES], &golden.file];
    let originals: Vec<BTreeMap<&[u8], &[u8]>> = files
        .iter()
        .map(|file| {
            let records = Database::read(file).unwrap().records;
            records
                .iter()
                .map(|record| (record.key, record.value))
                .collect()
        })
        .collect();
    let mut errors = 0;
    for seed in 0..count {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let choice = usize::from(random.random::<bool>());
        let mut file = files[choice].to_vec();
        damage(&mut file, &mut random);
        let Ok(database) = Database::read(&file) else {
            errors += 1;
            continue;
        };
        let lengths = database
            .records
            .iter()
            .map(|record| record.key.len() + record.value.len());
        assert!(lengths.sum::<usize>() <= file.len(), "seed {seed}");
        // Values that are the same are read the same.
        for record in &database.records {
            if originals[choice].get(record.key) != Some(&record.value) {
                let _: Result<_, _> = record.content(&layout, golden.kubernetes);
            }
        }
    }
    // Pages that are free or unused take no part.
    assert!(
        errors > count / 10 && errors < count,
        "{errors} of {count} are refused"
    );
}
