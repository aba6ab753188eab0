//! Reads a whole log: its head, its records, and where they end.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{
    error::Damage,
    record::{Record, parse},
    snapshot_id::SnapshotId,
};

/// The format of the head.
pub(crate) const FORMAT: &str = "fakeserver.log";
/// The version that is written. Older ones can be read.
const VERSION: u64 = 1;
/// Disks write sectors of this size wholly or not at all.
const SECTOR_BYTES: usize = 512;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: String,
    version: u64,
    /// The mark of the snapshot that the log continues.
    base: String,
    /// The number of the last commit in that snapshot.
    sequence: u64,
}

/// The contents of a log.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogScan<'a> {
    /// The mark of the snapshot that the log continues.
    pub base: String,
    /// The number of the last commit in that snapshot.
    pub sequence: u64,
    /// The records, in the order of their numbers.
    pub records: Vec<Record<'a>>,
    /// The rest of a write that did not end, if there is one.
    pub torn: Option<TornTail>,
}

/// The rest of a write that did not end. Nothing in it was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TornTail {
    /// The byte at which it begins, from 0.
    pub offset: usize,
    /// The number of its line, from 1.
    pub line: usize,
    /// Its length.
    pub bytes: usize,
}

/// Returns the head of a log that continues the snapshot of `base`, whose last commit has the number `sequence`.
pub(crate) fn head(base: &str, sequence: u64) -> Vec<u8> {
    let head = Head {
        format: FORMAT.to_owned(),
        version: VERSION,
        base: base.to_owned(),
        sequence,
    };
    let mut line = serde_json::to_vec(&head).expect("a head serializes into memory");
    line.push(b'\n');
    line
}

/// Reads a log.
///
/// A record that is not whole ends the log if an interrupted write can have left it: the file ends within it, or a sector of
/// it was never written, and no later record says that it was synced.
///
/// # Errors
///
/// Something else is wrong. The log may lack what was acknowledged, and nothing of it is to be used.
pub fn scan(bytes: &[u8]) -> Result<LogScan<'_>, Damage> {
    let first = line_at(bytes, 0);
    let head = read_head(&bytes[first.clone()])?;
    let mut scan = LogScan {
        base: head.base,
        sequence: head.sequence,
        records: Vec::new(),
        torn: None,
    };
    let mut offset = first.end + 1;
    for (number, expected) in (2..).zip(head.sequence + 1..) {
        if offset >= bytes.len() {
            break;
        }
        let line = line_at(bytes, offset);
        let is_whole = line.end < bytes.len();
        match parse(&bytes[line.clone()]).filter(|_| is_whole) {
            Some(record) if record.sequence == expected => scan.records.push(record),
            Some(record) => {
                let reason = format!(
                    "the record has the number {}, and {expected} is due",
                    record.sequence
                );
                return Err(Damage::new(offset, number, reason));
            }
            None => {
                let reason = match torn(bytes, offset, expected) {
                    Ok(()) => {
                        scan.torn = Some(TornTail {
                            offset,
                            line: number,
                            bytes: bytes.len() - offset,
                        });
                        break;
                    }
                    Err(reason) => reason,
                };
                return Err(Damage::new(offset, number, reason));
            }
        }
        offset = line.end + 1;
    }
    Ok(scan)
}

/// Returns those of the records that are not in a snapshot yet.
///
/// # Errors
///
/// The log does not continue this snapshot.
pub fn records_after<'a, 'b>(
    scan: &'b LogScan<'a>,
    snapshot: Option<&SnapshotId>,
) -> Result<&'b [Record<'a>], String> {
    let Some(snapshot) = snapshot else {
        return Err("the snapshot that it continues is missing".to_owned());
    };
    // A crash between the two renames of a compaction leaves the new snapshot with the old log.
    let is_base = scan.base == snapshot.mark && scan.sequence == snapshot.sequence;
    let is_of_compaction =
        snapshot.after.as_ref() == Some(&scan.base) && scan.sequence <= snapshot.sequence;
    if !is_base && !is_of_compaction {
        return Err("it continues another snapshot".to_owned());
    }
    let is_old = |record: &Record<'_>| record.sequence <= snapshot.sequence;
    let new = scan.records.partition_point(is_old);
    Ok(&scan.records[new..])
}

/// Returns whether a log may begin with these bytes, or is cut off within them.
pub(crate) fn is_head(bytes: &[u8]) -> bool {
    let begin = format!("{{\"format\":\"{FORMAT}\"");
    bytes.starts_with(begin.as_bytes()) || begin.as_bytes().starts_with(bytes)
}

/// Returns the range of the line that begins at `offset`, without its end.
fn line_at(bytes: &[u8], offset: usize) -> Range<usize> {
    let rest = &bytes[offset..];
    let length = rest.iter().position(|byte| *byte == b'\n');
    offset..offset + length.unwrap_or(rest.len())
}

fn read_head(line: &[u8]) -> Result<Head, Damage> {
    let head: Result<Head, _> = serde_json::from_slice(line);
    match head {
        Ok(head) if head.format == FORMAT && (1..=VERSION).contains(&head.version) => Ok(head),
        Ok(head) if head.format == FORMAT => {
            let found = head.version;
            let reason = format!(
                "format version {found} is newer than {VERSION}, the newest that this program knows"
            );
            Err(Damage::new(0, 1, reason))
        }
        _ => Err(Damage::new(0, 1, "this is no log of a fakeserver")),
    }
}

/// Returns whether an interrupted write can have left what begins at `offset`, where the record `expected` is due; or why not.
fn torn(bytes: &[u8], offset: usize, expected: u64) -> Result<(), String> {
    let rest = &bytes[offset..];
    let proof = rest
        .split(|byte| *byte == b'\n')
        .skip(1)
        .find_map(|line| parse(line).filter(|later| later.synced >= expected));
    if let Some(later) = proof {
        return Err(format!(
            "the record {expected} was changed after it was written: its checksum is another, and the record {} says that it \
             was whole",
            later.sequence
        ));
    }
    // The text has no zeros: where they fill a sector, nothing was written.
    let is_cut = rest.last() != Some(&b'\n');
    if is_cut || has_empty_sector(bytes, offset) {
        return Ok(());
    }
    Err(format!(
        "the record {expected} was changed after it was written: its checksum is another"
    ))
}

/// Returns whether a sector from `offset` on has zeros only.
fn has_empty_sector(bytes: &[u8], offset: usize) -> bool {
    let mut start = offset;
    while start < bytes.len() {
        let end = (start - start % SECTOR_BYTES + SECTOR_BYTES).min(bytes.len());
        if bytes[start..end].iter().all(|byte| *byte == 0) {
            return true;
        }
        start = end;
    }
    false
}
