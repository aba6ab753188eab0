//! Cuts the items out of the body of a list while it arrives.
//!
//! Nothing is checked here: what is left of the body is read when all has come, and each item when it is decoded.

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

use super::outline::NESTS;

/// The placeholder in the frame of an item that was cut out of it.
pub(crate) const CUT: &str = "0";
/// The key of the items in JSON.
const ITEMS: &[u8] = br#""items""#;

/// The pure core of reading a list that is not there yet.
///
/// # Memory
///
/// The item that has begun, and the bytes outside of items: two bytes stand for each item.
#[derive(Debug, Default)]
pub(crate) struct ListSplitter {
    /// The body, with [`CUT`] for each item.
    frame: Vec<u8>,
    /// The part of the current item that arrived with earlier chunks.
    begun: BytesMut,
    position: Position,
    progress: Progress,
    /// The key that is being read, where a key is.
    key: Vec<u8>,
    /// True if the items have begun.
    has_cut: bool,
    /// A list without items that begins as this one, until the caller takes it.
    beginning: Option<Vec<u8>>,
}

/// The place of the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Before the object that the list is.
    #[default]
    Before,
    /// In that object, before a key.
    Members,
    Key,
    /// Behind a key, before its value.
    Colon,
    /// In a value that is not the items.
    Value,
    /// Between items.
    Items,
    Item,
    /// Nothing more is cut out.
    Behind,
}

/// The progress of the value that is being read.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
    /// Neither nested nor a string: it ends before what cannot be a part of it.
    is_scalar: bool,
}

// === impl ListSplitter ===

impl ListSplitter {
    /// Takes the next bytes of the body, and hands on each item that is complete with them.
    pub(crate) fn push(&mut self, chunk: &Bytes, mut item: impl FnMut(Bytes)) {
        let mut at = 0;
        while at < chunk.len() {
            let rest = &chunk[at..];
            at += match self.position {
                Position::Behind => self.keep(rest.len(), rest),
                Position::Item => {
                    let (step, is_over) = self.progress.skip(rest);
                    if is_over {
                        item(self.complete(chunk.slice(at..at + step)));
                        self.frame.extend_from_slice(CUT.as_bytes());
                        self.position = Position::Items;
                    } else {
                        self.begun.extend_from_slice(rest);
                    }
                    step
                }
                Position::Value => {
                    let (step, is_over) = self.progress.skip(rest);
                    if is_over {
                        self.position = Position::Members;
                    }
                    self.keep(step, rest)
                }
                Position::Key => {
                    let (step, is_over) = self.progress.skip(rest);
                    self.key.extend_from_slice(&rest[..step]);
                    if is_over {
                        self.position = Position::Colon;
                    }
                    self.keep(step, rest)
                }
                Position::Before | Position::Members | Position::Colon | Position::Items => {
                    self.mark(rest[0], rest)
                }
            };
        }
    }

    /// Returns the fields of the list that came before its items, as a list without any: once, when they begin.
    pub(crate) fn take_beginning(&mut self) -> Option<Vec<u8>> {
        self.beginning.take()
    }

    /// Returns true if the items were found and each was cut out.
    pub(crate) fn has_cut(&self) -> bool {
        self.has_cut
    }

    /// Returns the rest of the body when all of it has come.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut frame = self.frame;
        // A body that ends within an item is only the beginning of one.
        frame.extend_from_slice(&self.begun);
        frame
    }

    /// A byte between values. Gives how many bytes are done with: none where it begins a value.
    fn mark(&mut self, byte: u8, rest: &[u8]) -> usize {
        match (self.position, byte) {
            (_, b' ' | b'\n' | b'\r' | b'\t')
            | (Position::Colon, b':')
            | (Position::Items, b',') => {}
            (Position::Before, b'{') | (Position::Members, b',') | (Position::Items, b']') => {
                self.position = Position::Members;
            }
            (Position::Members, b'"') => {
                self.key.clear();
                self.progress = Progress::default();
                self.position = Position::Key;
                return 0;
            }
            (Position::Colon, b'[') if self.key == ITEMS && !self.has_cut => {
                self.has_cut = true;
                self.beginning = Some([&*self.frame, b"[]}"].concat());
                self.position = Position::Items;
            }
            (Position::Colon, _) => {
                self.progress = Progress::default();
                self.position = Position::Value;
                return 0;
            }
            (Position::Items, b'}') => self.position = Position::Behind,
            (Position::Items, _) => {
                self.progress = Progress::default();
                self.position = Position::Item;
                return 0;
            }
            // The end of the list, or no list.
            _ => self.position = Position::Behind,
        }
        self.keep(1, rest)
    }

    fn keep(&mut self, step: usize, rest: &[u8]) -> usize {
        self.frame.extend_from_slice(&rest[..step]);
        step
    }

    /// The item that ends with `end`.
    fn complete(&mut self, end: Bytes) -> Bytes {
        if self.begun.is_empty() {
            return end;
        }
        self.begun.extend_from_slice(&end);
        self.begun.split().freeze()
    }
}

// === impl Progress ===

impl Progress {
    /// Skips through `bytes`; returns the number of bytes that belong to the value, and whether it has ended.
    fn skip(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        if !self.is_in_string && self.depth == 0 && !self.is_scalar {
            self.is_scalar = !matches!(bytes.first(), Some(b'"' | b'{' | b'['));
        }
        if self.is_scalar {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            let end = bytes.iter().position(is_end);
            return (end.unwrap_or(bytes.len()), end.is_some());
        }
        while at < bytes.len() {
            if self.is_escaped {
                self.is_escaped = false;
                at += 1;
                continue;
            }
            if self.is_in_string {
                let Some(step) = memchr2(b'"', b'\\', &bytes[at..]) else {
                    return (bytes.len(), false);
                };
                at += step + 1;
                if bytes[at - 1] == b'\\' {
                    self.is_escaped = true;
                    continue;
                }
                self.is_in_string = false;
            } else {
                let is_nesting = |byte: &u8| NESTS[usize::from(*byte)];
                let Some(step) = bytes[at..].iter().position(is_nesting) else {
                    return (bytes.len(), false);
                };
                at += step + 1;
                match bytes[at - 1] {
                    b'"' => self.is_in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    _ => self.depth = self.depth.saturating_sub(1),
                }
            }
            if self.depth == 0 && !self.is_in_string {
                return (at, true);
            }
        }
        (at, false)
    }
}

#[cfg(test)]
mod tests;
