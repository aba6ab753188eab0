//! Pages and the numbers in them.

use super::error::BoltError;

/// The number of a page.
pub(super) type PageId = u64;

/// Number of the page, flags, number of elements, and of pages behind this one that belong to it.
pub(super) const HEADER_BYTES: usize = 16;
const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;

/// The pages of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pages<'a> {
    bytes: &'a [u8],
    size: usize,
}

/// A page with those that continue it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) id: PageId,
    /// The place in the file.
    pub(super) offset: usize,
    pub(super) bytes: &'a [u8],
    pub(super) kind: PageKind,
    pub(super) element_count: u16,
    /// The number of pages that it takes.
    pub(super) span: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Branch,
    Leaf,
}

// === impl Pages ===

impl<'a> Pages<'a> {
    pub(super) fn new(bytes: &'a [u8], size: usize) -> Self {
        Self { bytes, size }
    }

    /// Returns the number of whole pages in the file.
    pub(super) fn count(&self) -> u64 {
        (self.bytes.len() / self.size) as u64
    }

    /// Reads the page `id`, whose number stands in it.
    pub(super) fn page(&self, id: PageId) -> Result<Page<'a>, BoltError> {
        let count = self.count();
        if id < 2 || id >= count {
            let reason =
                format!("a page is referred to that cannot hold data; the file has {count}");
            return Err(BoltError::new(id, self.offset_of(id), reason));
        }
        let offset = self.offset_of(id);
        let page = Page::parse(id, offset, &self.bytes[offset..], Some(self.size))?;
        if u64_at(page.bytes, 0) != id {
            return Err(BoltError::new(
                id,
                offset,
                "the page has the number of another one",
            ));
        }
        Ok(page)
    }

    fn offset_of(&self, id: PageId) -> usize {
        usize::try_from(id)
            .unwrap_or(usize::MAX)
            .saturating_mul(self.size)
    }
}

// === impl Page ===

impl<'a> Page<'a> {
    /// Reads the page at the begin of `bytes`, which go to the end of the file, or of the value if the page is in one. Pages in
    /// values have no size of their own.
    pub(super) fn parse(
        id: PageId,
        offset: usize,
        bytes: &'a [u8],
        size: Option<usize>,
    ) -> Result<Self, BoltError> {
        let error = |at: usize, reason: &str| Err(BoltError::new(id, offset + at, reason));
        if bytes.len() < HEADER_BYTES {
            return error(bytes.len(), "the head of a page is cut off");
        }
        let kind = match u16_at(bytes, 8) {
            BRANCH => PageKind::Branch,
            LEAF => PageKind::Leaf,
            _ => return error(8, "a page of a bucket is neither a branch nor a leaf"),
        };
        let span = u64::from(u32_at(bytes, 12)) + 1;
        let bytes = match size {
            Some(size) => {
                let length = usize::try_from(span).ok();
                let length = length.and_then(|count| count.checked_mul(size));
                let Some(bytes) = length.and_then(|length| bytes.get(..length)) else {
                    return error(12, "the page continues behind the end of the file");
                };
                bytes
            }
            None => bytes,
        };
        Ok(Self {
            id,
            offset,
            bytes,
            kind,
            element_count: u16_at(bytes, 10),
            span,
        })
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

/// Returns bytes whose presence the caller has checked.
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let part = bytes[at..].first_chunk();
    *part.expect("the caller has checked the length")
}
