//! The pure core of finding the end of an item while it arrives.

use super::{error::MalformedCbor, head::Head};

/// The largest number of items in each other.
pub(super) const DEPTH_MAX: usize = 128;

/// Steps over one item, however it is cut.
///
/// # Memory
///
/// A few words for each array, map or tag that has begun.
#[derive(Debug, Default)]
pub(crate) struct Skipper {
    open: Vec<Open>,
    /// The bytes of a string that are still to come.
    string_bytes: u64,
    has_begun: bool,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SkipResult {
    /// The bytes that were stepped over.
    pub(crate) bytes: usize,
    /// True if the item ends there; else more bytes are needed.
    pub(crate) is_over: bool,
}

/// An item that has begun.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// So many items are left.
    Items(u64),
    /// Items follow until a break; of a map, true if the next one is a value.
    Endless { is_map: bool, has_key: bool },
    /// Strings of this kind follow until a break.
    Pieces { is_text: bool },
}

/// Returns the size of the item that bytes begin with.
pub(crate) fn whole_item(bytes: &[u8]) -> Result<usize, MalformedCbor> {
    let skipped = Skipper::default().skip(bytes)?;
    if skipped.is_over {
        Ok(skipped.bytes)
    } else {
        Err(MalformedCbor::Truncated)
    }
}

// === impl Skipper ===

impl Skipper {
    /// Steps over as much of the item as is there. What was stepped over is not to be given again.
    pub(crate) fn skip(&mut self, bytes: &[u8]) -> Result<SkipResult, MalformedCbor> {
        let mut at = 0;
        loop {
            if self.string_bytes > 0 {
                let there = bytes.len() - at;
                let step = usize::try_from(self.string_bytes).map_or(there, |left| left.min(there));
                at += step;
                self.string_bytes -= step as u64;
                if self.string_bytes > 0 {
                    return Ok(SkipResult {
                        bytes: at,
                        is_over: false,
                    });
                }
                self.close();
            }
            if self.has_begun && self.open.is_empty() {
                self.has_begun = false;
                return Ok(SkipResult {
                    bytes: at,
                    is_over: true,
                });
            }
            let Some((head, size)) = Head::read(&bytes[at..])? else {
                return Ok(SkipResult {
                    bytes: at,
                    is_over: false,
                });
            };
            at += size;
            self.has_begun = true;
            self.head(head)?;
        }
    }

    fn head(&mut self, head: Head) -> Result<(), MalformedCbor> {
        if let Some(Open::Pieces { is_text }) = self.open.last() {
            match head {
                Head::Text(Some(length)) if *is_text => self.string(length),
                Head::Bytes(Some(length)) if !*is_text => self.string(length),
                Head::Break => {
                    self.open.pop();
                    self.close();
                }
                _ => return Err(MalformedCbor::Piece),
            }
            return Ok(());
        }
        match head {
            Head::Bytes(Some(length)) | Head::Text(Some(length)) => self.string(length),
            Head::Bytes(None) => self.begin(Open::Pieces { is_text: false })?,
            Head::Text(None) => self.begin(Open::Pieces { is_text: true })?,
            Head::Array(Some(0)) | Head::Map(Some(0)) => self.close(),
            Head::Array(Some(length)) => self.begin(Open::Items(length))?,
            Head::Map(Some(length)) => {
                let length = length.checked_mul(2).ok_or(MalformedCbor::Head)?;
                self.begin(Open::Items(length))?;
            }
            Head::Tag(_) => self.begin(Open::Items(1))?,
            Head::Array(None) => self.begin_endless(false)?,
            Head::Map(None) => self.begin_endless(true)?,
            Head::Break => match self.open.pop() {
                Some(Open::Endless { has_key: false, .. }) => self.close(),
                _ => return Err(MalformedCbor::Break),
            },
            _ => self.close(),
        }
        Ok(())
    }

    fn begin_endless(&mut self, is_map: bool) -> Result<(), MalformedCbor> {
        self.begin(Open::Endless {
            is_map,
            has_key: false,
        })
    }

    fn begin(&mut self, open: Open) -> Result<(), MalformedCbor> {
        if self.open.len() >= DEPTH_MAX {
            return Err(MalformedCbor::TooDeep);
        }
        self.open.push(open);
        Ok(())
    }

    fn string(&mut self, length: u64) {
        if length == 0 {
            self.close();
        } else {
            self.string_bytes = length;
        }
    }

    /// An item is over, and with it all that it was the last of.
    fn close(&mut self) {
        while let Some(open) = self.open.last_mut() {
            match open {
                Open::Items(left) if *left > 1 => {
                    *left -= 1;
                    return;
                }
                Open::Items(_) => drop(self.open.pop()),
                Open::Endless { is_map, has_key } => {
                    *has_key = *is_map && !*has_key;
                    return;
                }
                Open::Pieces { .. } => return,
            }
        }
    }
}
