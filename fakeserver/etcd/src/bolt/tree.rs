//! Buckets: trees of pages, walked in the order of keys.

use super::{
    error::BoltError,
    page::{HEADER_BYTES, Page, PageId, PageKind, Pages, u32_at, u64_at},
};

const ELEMENT_BYTES: usize = 16;
/// The flag of an element whose value is a bucket.
const BUCKET: u32 = 0x01;
/// Root page and sequence number, before the page of a bucket that is within its value.
const BUCKET_HEADER_BYTES: usize = 16;

/// A bucket of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket<'a> {
    pages: Pages<'a>,
    root: Root<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Root<'a> {
    /// A page of the file.
    Page(PageId),
    /// A page within a value.
    Inline(Page<'a>),
}

/// A key and its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
    pub(crate) is_bucket: bool,
    /// The page that has it.
    page: PageId,
    /// The place of the key in the file.
    offset: usize,
}

/// The elements of a bucket, in the order of their keys. It ends with the first error.
pub(crate) struct Elements<'a> {
    pages: Pages<'a>,
    /// The pages from the root to the present leaf, with the next element of each.
    path: Vec<(Page<'a>, u16)>,
    /// The bytes of elements that were read of each page of the path.
    used: Vec<usize>,
    /// One bit for each page of the file: set if it was read.
    seen: Vec<u64>,
    /// The root, until it is read.
    root: Option<Root<'a>>,
    has_failed: bool,
}

// === impl Bucket ===

impl<'a> Bucket<'a> {
    pub(super) fn at(pages: Pages<'a>, root: PageId) -> Self {
        Self {
            pages,
            root: Root::Page(root),
        }
    }

    /// Reads the bucket that is the value of an element.
    pub(super) fn of_value(pages: Pages<'a>, element: &Element<'a>) -> Result<Self, BoltError> {
        let value = element.value;
        let offset = element.offset + element.key.len();
        if value.len() < BUCKET_HEADER_BYTES {
            let reason = "a bucket is shorter than its head";
            return Err(BoltError::new(element.page, offset, reason));
        }
        let root = match u64_at(value, 0) {
            0 => {
                let (offset, bytes) = (offset + BUCKET_HEADER_BYTES, &value[BUCKET_HEADER_BYTES..]);
                let page = Page::parse(element.page, offset, bytes, None)?;
                if page.kind == PageKind::Branch {
                    let reason = "a bucket within a value refers to pages";
                    return Err(BoltError::new(element.page, offset, reason));
                }
                Root::Inline(page)
            }
            root => Root::Page(root),
        };
        Ok(Self { pages, root })
    }

    pub(crate) fn elements(&self) -> Elements<'a> {
        let words = usize::try_from(self.pages.count().div_ceil(64)).unwrap_or_default();
        Elements {
            pages: self.pages,
            path: Vec::new(),
            used: Vec::new(),
            seen: vec![0; words],
            root: Some(self.root),
            has_failed: false,
        }
    }
}

// === impl Element ===

impl Element<'_> {
    /// Returns an error about this element.
    pub(crate) fn error(&self, reason: impl Into<String>) -> BoltError {
        BoltError::new(self.page, self.offset, reason)
    }
}

// === impl Elements ===

impl<'a> Elements<'a> {
    /// Reads a page, which no other one of the bucket may have referred to.
    fn enter(&mut self, id: PageId) -> Result<(), BoltError> {
        let page = self.pages.page(id)?;
        for part in id..id + page.span {
            let (word, bit) = (
                usize::try_from(part / 64).unwrap_or(usize::MAX),
                1 << (part % 64),
            );
            let seen = self.seen.get_mut(word).filter(|seen| **seen & bit == 0);
            let Some(seen) = seen else {
                let reason = "the page is part of the bucket twice";
                return Err(BoltError::new(id, page.offset, reason));
            };
            *seen |= bit;
        }
        self.push(page)
    }

    fn push(&mut self, page: Page<'a>) -> Result<(), BoltError> {
        let heads = usize::from(page.element_count) * ELEMENT_BYTES;
        if HEADER_BYTES + heads > page.bytes.len() {
            let reason = "the page has more elements than room for their heads";
            return Err(BoltError::new(page.id, page.offset, reason));
        }
        self.path.push((page, 0));
        self.used.push(HEADER_BYTES + heads);
        Ok(())
    }

    /// Returns the next element of a leaf, after reading the pages on the way.
    fn advance(&mut self) -> Result<Option<Element<'a>>, BoltError> {
        match self.root.take() {
            Some(Root::Page(id)) => self.enter(id)?,
            Some(Root::Inline(page)) => self.push(page)?,
            None => {}
        }
        while let (Some((page, next)), Some(used)) = (self.path.last_mut(), self.used.last_mut()) {
            if *next == page.element_count {
                self.path.pop();
                self.used.pop();
                continue;
            }
            let at = HEADER_BYTES + usize::from(*next) * ELEMENT_BYTES;
            *next += 1;
            match page.kind {
                PageKind::Branch => {
                    let below = u64_at(page.bytes, at + 8);
                    self.enter(below)?;
                }
                PageKind::Leaf => return element(page, at, used).map(Some),
            }
        }
        Ok(None)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Element<'a>, BoltError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let next = self.advance().transpose();
        self.has_failed = matches!(next, Some(Err(_)));
        next
    }
}

/// Reads the element of a leaf whose head is at `at`. `used` counts the bytes of the page's elements.
fn element<'a>(page: &Page<'a>, at: usize, used: &mut usize) -> Result<Element<'a>, BoltError> {
    let number = |offset: usize| u32_at(page.bytes, at + offset) as usize;
    let (flags, key_length, value_length) = (number(0), number(8), number(12));
    let start = at.saturating_add(number(4));
    let middle = start.saturating_add(key_length);
    let end = middle.saturating_add(value_length);
    *used = used.saturating_add(key_length).saturating_add(value_length);
    // Elements that share bytes would make a small file a large state.
    if end > page.bytes.len() || *used > page.bytes.len() {
        let reason = "an element is longer than its page";
        return Err(BoltError::new(page.id, page.offset + at, reason));
    }
    Ok(Element {
        key: &page.bytes[start..middle],
        value: &page.bytes[middle..end],
        is_bucket: flags & BUCKET as usize != 0,
        page: page.id,
        offset: page.offset + start,
    })
}
