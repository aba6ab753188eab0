//! The two pages that say where the root is.

use super::{
    error::BoltError,
    page::{HEADER_BYTES, PageId, u32_at, u64_at},
};

const MAGIC: u32 = 0xed0c_daed;
const VERSION: u32 = 2;
/// The sizes of pages: powers of two from the first to the last.
const PAGE_SIZES: [u32; 2] = [512, 64 << 10];
/// The bytes that the checksum is of, and then the checksum.
const CHECKED_BYTES: usize = 56;
const META_BYTES: usize = CHECKED_BYTES + 8;

/// A meta page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meta {
    pub(super) page_size: usize,
    pub(super) root: PageId,
    /// The number of pages that are in use or free; behind them is nothing.
    pub(super) page_count: u64,
    /// The number of the transaction that wrote it.
    transaction: u64,
}

// === impl Meta ===

impl Meta {
    /// Returns the valid one of the later transaction.
    pub(super) fn find(bytes: &[u8]) -> Result<Self, BoltError> {
        let first = Self::parse(bytes, 0);
        let second = match &first {
            Ok(first) => Self::parse(bytes, first.page_size).ok(),
            Err(_) => Self::find_second(bytes),
        };
        match (first, second) {
            (Ok(first), Some(second)) if second.transaction > first.transaction => Ok(second),
            (Err(_), Some(second)) => Ok(second),
            (first, _) => first,
        }
    }

    /// Returns the second one if the first is damaged, and with it the size of pages is unknown.
    fn find_second(bytes: &[u8]) -> Option<Self> {
        let sizes = (PAGE_SIZES[0].ilog2()..=PAGE_SIZES[1].ilog2()).map(|bits| 1 << bits);
        let mut found = sizes.filter_map(|size: usize| {
            let meta = Self::parse(bytes, size).ok()?;
            (meta.page_size == size).then_some(meta)
        });
        found.next()
    }

    fn parse(bytes: &[u8], start: usize) -> Result<Self, BoltError> {
        let page = u64::from(start > 0);
        let at = start + HEADER_BYTES;
        let error = |offset: usize, reason: &str| Err(BoltError::new(page, offset, reason));
        let Some(meta) = bytes.get(at..at + META_BYTES) else {
            return error(bytes.len(), "the file ends within its meta pages");
        };
        match u32_at(meta, 0) {
            MAGIC => {}
            magic if magic.swap_bytes() == MAGIC => {
                return error(at, "it was written on a machine of another byte order");
            }
            _ => return error(at, "this is no bbolt file, as etcd has it"),
        }
        if u32_at(meta, 4) != VERSION {
            return error(at + 4, "it has another version of the format than 2");
        }
        let checksum = meta[..CHECKED_BYTES]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        if checksum != u64_at(meta, CHECKED_BYTES) {
            return error(
                at + CHECKED_BYTES,
                "the checksum of the meta page is another",
            );
        }
        let page_size = u32_at(meta, 8);
        if !page_size.is_power_of_two() || !(PAGE_SIZES[0]..=PAGE_SIZES[1]).contains(&page_size) {
            return error(at + 8, "no machine has pages of this size");
        }
        Ok(Self {
            page_size: page_size as usize,
            root: u64_at(meta, 16),
            page_count: u64_at(meta, 40),
            transaction: u64_at(meta, 48),
        })
    }
}
