//! etcd's database: the live keys at its present revision, and the leases.
//!
//! The bucket `key` has a record for each change: its key is the revision, its value the key-value pair that was written. A
//! deletion has a mark behind the revision. Compactions remove records that later ones have replaced; those that one has
//! scheduled and not removed yet make no difference, since only the last record of a key counts.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::{
    bolt::{Bolt, BoltError, Element},
    message::{Field, fields},
};

/// The unit in which bbolt's files grow: a file with a checksum behind its last one is longer than a multiple of it.
const UNIT_BYTES: usize = 512;
const DIGEST_BYTES: usize = 32;
/// The length of a revision: two numbers of eight bytes, and `_` between them. The mark of a deletion follows.
const REVISION_BYTES: usize = 17;
const DELETION: &[u8] = b"t";
/// The revision of an empty etcd.
const FIRST: u64 = 1;

/// The state of an etcd at one revision. Keys and values are parts of the file that was read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Database<'a> {
    /// The present revision: the last change, or a later compaction.
    pub revision: u64,
    /// The revision up to which the history is compacted; nothing if it never was.
    pub compacted: Option<u64>,
    /// The live keys, in order.
    pub records: Vec<Record<'a>>,
    /// The leases, by their ids.
    pub leases: Vec<Lease>,
    /// True if a checksum stood at the end of the file, and was right.
    pub is_checked: bool,
}

/// A key with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
    /// The revision at which the key was created.
    pub create_revision: u64,
    /// The revision of its last change.
    pub mod_revision: u64,
    /// The number of changes since it was created.
    pub version: u64,
    /// The lease with whose end it is deleted; 0 without one.
    pub lease: i64,
}

/// A lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// Its id.
    pub id: i64,
    /// Its duration in seconds, as it was granted.
    pub ttl_seconds: i64,
}

/// The revision that is the key of a change: those of one transaction differ in the second number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ChangeRevision {
    main: u64,
    sub: u64,
}

// === impl Database ===

impl<'a> Database<'a> {
    /// Reads a file of a member (`member/snap/db`) or one that `etcdctl snapshot save` wrote, whose checksum is verified.
    ///
    /// # Errors
    ///
    /// The file is damaged, cut off, or no database of etcd.
    ///
    /// # Memory
    ///
    /// Some 100 bytes for each live key, whatever the bytes of the file are.
    pub fn read(file: &'a [u8]) -> Result<Self, BoltError> {
        let (content, digest) = match file.len() % UNIT_BYTES {
            DIGEST_BYTES => {
                let (content, digest) = file.split_at(file.len() - DIGEST_BYTES);
                (content, Some(digest))
            }
            _ => (file, None),
        };
        let bolt = Bolt::open(content)?;
        if let Some(digest) = digest
            && Sha256::digest(content)[..] != *digest
        {
            let reason = "the SHA-256 at the end of the snapshot is not that of its content";
            return Err(BoltError::new(0, content.len(), reason));
        }
        let mut database = Self::read_keys(&bolt)?;
        database.is_checked = digest.is_some();
        database.leases = leases(&bolt)?;
        database.read_compactions(&bolt)?;
        Ok(database)
    }

    fn read_keys(bolt: &Bolt<'a>) -> Result<Self, BoltError> {
        let Some(bucket) = bolt.bucket(b"key")? else {
            return Err(BoltError::new(
                0,
                0,
                "there is no bucket `key`: the file is not of etcd",
            ));
        };
        let mut live: BTreeMap<&[u8], Record<'a>> = BTreeMap::new();
        let mut last = None;
        for element in bucket.elements() {
            let element = element?;
            let (revision, is_deletion) = change_revision(&element)?;
            if last.is_some_and(|last| last >= revision) {
                return Err(element.error("a change is not behind the one before it"));
            }
            last = Some(revision);
            let record = Record::parse(&element)?;
            if is_deletion {
                live.remove(record.key);
                continue;
            }
            if record.mod_revision != revision.main {
                return Err(element.error("a change has another revision than its key-value pair"));
            }
            live.insert(record.key, record);
        }
        Ok(Self {
            revision: last.map_or(FIRST, |last| last.main),
            compacted: None,
            records: live.into_values().collect(),
            leases: Vec::new(),
            is_checked: false,
        })
    }

    /// Reads the revisions of the last compactions, which may be later than the last change that is left.
    fn read_compactions(&mut self, bolt: &Bolt<'a>) -> Result<(), BoltError> {
        let Some(meta) = bolt.bucket(b"meta")? else {
            return Ok(());
        };
        for element in meta.elements() {
            let element = element?;
            if !matches!(element.key, b"finishedCompactRev" | b"scheduledCompactRev") {
                continue;
            }
            let revision = revision_of(element.value)
                .ok_or_else(|| element.error("the revision of a compaction has another length"))?;
            self.compacted = self.compacted.max(Some(revision.main));
            self.revision = self.revision.max(revision.main);
        }
        Ok(())
    }
}

// === impl Record ===

impl<'a> Record<'a> {
    /// Reads a key-value pair of etcd, a message of protobuf.
    fn parse(element: &Element<'a>) -> Result<Self, BoltError> {
        let mut record = Record {
            key: &[],
            value: &[],
            create_revision: 0,
            mod_revision: 0,
            version: 0,
            lease: 0,
        };
        for field in fields(element.value) {
            match field.map_err(|reason| element.error(reason))? {
                Field::Bytes(1, key) => record.key = key,
                Field::Number(2, revision) => record.create_revision = revision,
                Field::Number(3, revision) => record.mod_revision = revision,
                Field::Number(4, version) => record.version = version,
                Field::Bytes(5, value) => record.value = value,
                Field::Number(6, lease) => record.lease = lease.cast_signed(),
                _ => {}
            }
        }
        if record.key.is_empty() {
            return Err(element.error("a key-value pair has no key"));
        }
        Ok(record)
    }
}

fn leases(bolt: &Bolt<'_>) -> Result<Vec<Lease>, BoltError> {
    let Some(bucket) = bolt.bucket(b"lease")? else {
        return Ok(Vec::new());
    };
    let leases = bucket.elements().map(|element| {
        let element = element?;
        let mut lease = Lease {
            id: 0,
            ttl_seconds: 0,
        };
        for field in fields(element.value) {
            match field.map_err(|reason| element.error(reason))? {
                Field::Number(1, id) => lease.id = id.cast_signed(),
                Field::Number(2, ttl) => lease.ttl_seconds = ttl.cast_signed(),
                _ => {}
            }
        }
        Ok(lease)
    });
    leases.collect()
}

/// Reads the revision of a change, and whether it is a deletion.
fn change_revision(element: &Element<'_>) -> Result<(ChangeRevision, bool), BoltError> {
    let (revision, mark) = element
        .key
        .split_at_checked(REVISION_BYTES)
        .ok_or_else(|| element.error("the revision of a change is too short"))?;
    let revision = revision_of(revision)
        .filter(|revision| i64::try_from(revision.main).is_ok())
        .ok_or_else(|| element.error("the revision of a change is none"))?;
    match mark {
        b"" => Ok((revision, false)),
        DELETION => Ok((revision, true)),
        _ => Err(element.error("a change is neither a write nor a deletion")),
    }
}

fn revision_of(bytes: &[u8]) -> Option<ChangeRevision> {
    let (main, rest) = bytes.split_first_chunk::<8>()?;
    let sub = rest.strip_prefix(b"_")?;
    Some(ChangeRevision {
        main: u64::from_be_bytes(*main),
        sub: u64::from_be_bytes(sub.try_into().ok()?),
    })
}
