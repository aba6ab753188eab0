//! A reader of bbolt files, the format of etcd's database.
//!
//! ```text
//! page 0, 1   meta: the root bucket, the transaction that wrote it, a checksum (FNV-1a); the later valid one counts
//! other       branch: keys and pages below; leaf: keys and values, of which some are buckets; free pages, which are not read
//! ```
//!
//! A page with much content continues over the pages behind it. A small bucket is a page within its value. Reading is bounded by
//! the size of the file, whatever its bytes are: no page is read twice, and the elements of a page are together no longer than
//! it.

mod error;
mod meta;
mod page;
mod tree;

pub use self::error::BoltError;
pub(crate) use self::tree::{Bucket, Element};
use self::{
    meta::Meta,
    page::{PageId, Pages},
};

/// A bbolt file in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bolt<'a> {
    pages: Pages<'a>,
    root: PageId,
}

// === impl Bolt ===

impl<'a> Bolt<'a> {
    /// Reads the meta pages.
    ///
    /// # Errors
    ///
    /// None is valid: the file is damaged, or another program's. Or it ends before its last page.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, BoltError> {
        let meta = Meta::find(bytes)?;
        let pages = Pages::new(bytes, meta.page_size);
        let end = meta.page_count.saturating_mul(meta.page_size as u64);
        if end > bytes.len() as u64 {
            let reason = format!("the file ends here, and its pages at {end}: it is cut off");
            return Err(BoltError::new(meta.page_count, bytes.len(), reason));
        }
        Ok(Self {
            pages,
            root: meta.root,
        })
    }

    /// Returns a bucket of the root, by its name.
    ///
    /// # Errors
    ///
    /// A page on the way is damaged.
    pub(crate) fn bucket(&self, name: &[u8]) -> Result<Option<Bucket<'a>>, BoltError> {
        let root = Bucket::at(self.pages, self.root);
        for element in root.elements() {
            let element = element?;
            if element.is_bucket && element.key == name {
                return Bucket::of_value(self.pages, &element).map(Some);
            }
        }
        Ok(None)
    }
}
