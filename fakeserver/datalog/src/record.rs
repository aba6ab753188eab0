//! A record: a line with its checksum, its number, the number up to which the log was synced before it, and its payload.
//!
//! ```text
//! 1c291ca3 18 16 {"revision":48,...}
//! ```
//!
//! Lines let a reader go on behind a damaged record, and people read the log.

use std::io::Write as _;

/// The number of digits of a checksum.
const CHECKSUM_LENGTH: usize = 8;

/// A record of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// The number of the commit. The next record has the next number.
    pub sequence: u64,
    /// The number up to which all commits were on the disk when the record was written.
    pub synced: u64,
    /// The commit, as its owner has encoded it.
    pub payload: &'a [u8],
}

/// Appends a record to `out`, whose payload `encode` appends. The payload must not contain a line break.
pub(crate) fn print(
    out: &mut Vec<u8>,
    sequence: u64,
    synced: u64,
    encode: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    out.extend_from_slice(&[b'0'; CHECKSUM_LENGTH]);
    write!(out, " {sequence} {synced} ").expect("memory takes what is written");
    encode(out);
    let checked = &out[start + CHECKSUM_LENGTH..];
    debug_assert!(!checked.contains(&b'\n'), "a record is one line");
    let checksum = format!("{:08x}", crc32fast::hash(checked));
    out[start..start + CHECKSUM_LENGTH].copy_from_slice(checksum.as_bytes());
    out.push(b'\n');
}

/// Reads a line without its end. Returns `None` if it is no record, or not as it was written.
pub(crate) fn parse(line: &[u8]) -> Option<Record<'_>> {
    let (checksum, checked) = line.split_at_checked(CHECKSUM_LENGTH)?;
    let expected = format!("{:08x}", crc32fast::hash(checked));
    if checksum != expected.as_bytes() {
        return None;
    }
    let mut parts = checked.strip_prefix(b" ")?.splitn(3, |byte| *byte == b' ');
    let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
    Some(Record {
        sequence: number()?,
        synced: number()?,
        payload: parts.next()?,
    })
}
