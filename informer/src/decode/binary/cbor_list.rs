//! Cuts the items out of a list in CBOR while it arrives.

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, de::IgnoredAny};

use super::{cbor, malformed, protocol};
use crate::{
    cbor::{Head, MalformedCbor, Skipper},
    decode::{
        Decoder,
        list_body::{ListEnd, status_or_malformed},
        peek,
        peek::{PeekList, Text},
    },
    list_watch::ListWatchError,
};

/// An array without elements: what is left of the items.
const EMPTY: u8 = 0x80;

/// The pure core of reading a list that is not there yet.
///
/// # Memory
///
/// The item that has begun, and the bytes outside of items.
#[derive(Debug, Default)]
pub(crate) struct CborList {
    /// The bytes that have come and are not cut yet.
    rest: BytesMut,
    /// As many of them were stepped over.
    skipped: usize,
    skipper: Skipper,
    /// The list without its items.
    frame: Vec<u8>,
    position: Position,
    /// The entries of the list that are left; `None` until a break.
    entries: Option<u64>,
    is_items: bool,
    has_cut: bool,
    defect: Option<MalformedCbor>,
}

/// The place of the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    #[default]
    Before,
    Key,
    Value,
    /// Between items, with the number of those that are left; `None` if they end with a break.
    Items(Option<u64>),
    Behind,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireList<'a> {
    #[serde(borrow)]
    api_version: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    metadata: Option<PeekList<'a>>,
    /// Null stands for no items; `None` for a missing field.
    #[serde(deserialize_with = "there")]
    items: Option<IgnoredAny>,
}

fn there<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<IgnoredAny>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(Some)
}

// === impl CborList ===

impl CborList {
    /// Takes the next bytes of the body, and hands on each item that is complete with them.
    pub(crate) fn push(&mut self, chunk: &Bytes, mut item: impl FnMut(Bytes)) {
        if self.defect.is_some() {
            return;
        }
        self.rest.extend_from_slice(chunk);
        if let Err(defect) = self.cut(&mut item) {
            self.defect = Some(defect);
        }
    }

    /// Reads the bytes outside of items at the end of the list.
    pub(crate) fn finish(self, decoder: &Decoder) -> Result<ListEnd, ListWatchError> {
        if let Some(defect) = self.defect {
            return Err(malformed("a body that is not a list", defect));
        }
        if self.position != Position::Behind {
            return Err(ListWatchError::Transport(Box::new(
                MalformedCbor::Truncated,
            )));
        }
        if !self.rest.is_empty() {
            return Err(malformed(
                "a body that is not a list",
                MalformedCbor::Trailing,
            ));
        }
        let list: WireList<'_> = cbor::read(&self.frame)
            .map_err(|error| malformed("a body that is not a list", error))?;
        if peek::is_status(&list.api_version, &list.kind) {
            return Err(status_or_malformed(cbor::status(&self.frame)));
        }
        decoder.check_list_type(&list.api_version, &list.kind)?;
        if list.items.is_none() {
            return Err(protocol("a list without items"));
        }
        ListEnd::new(&list.metadata.unwrap_or_default())
    }

    /// Cuts what is complete.
    fn cut(&mut self, item: &mut impl FnMut(Bytes)) -> Result<(), MalformedCbor> {
        loop {
            match self.position {
                Position::Before => {
                    let Some(head) = self.keep_head()? else {
                        return Ok(());
                    };
                    match head {
                        Head::Tag(_) => {}
                        Head::Map(entries) => {
                            self.entries = entries;
                            self.position = Position::Key;
                        }
                        _ => return Err(MalformedCbor::Unexpected),
                    }
                }
                Position::Key if self.entries == Some(0) => self.position = Position::Behind,
                Position::Key if self.entries.is_none() && self.rest.first() == Some(&0xff) => {
                    self.frame.push(0xff);
                    drop(self.rest.split_to(1));
                    self.position = Position::Behind;
                }
                Position::Key => {
                    let Some(key) = self.whole_item()? else {
                        return Ok(());
                    };
                    self.frame.extend_from_slice(&key);
                    self.is_items = is_items(&key);
                    self.entries = self.entries.map(|left| left - 1);
                    self.position = Position::Value;
                }
                Position::Value => {
                    if self.is_items && !self.has_cut {
                        let Some(head) = Head::read(&self.rest)? else {
                            return Ok(());
                        };
                        if let (Head::Array(count), size) = head {
                            drop(self.rest.split_to(size));
                            self.frame.push(EMPTY);
                            self.has_cut = true;
                            self.position = Position::Items(count);
                            continue;
                        }
                    }
                    let Some(value) = self.whole_item()? else {
                        return Ok(());
                    };
                    self.frame.extend_from_slice(&value);
                    self.position = Position::Key;
                }
                Position::Items(Some(0)) => self.position = Position::Key,
                Position::Items(None) if self.rest.first() == Some(&0xff) => {
                    drop(self.rest.split_to(1));
                    self.position = Position::Key;
                }
                Position::Items(left) => {
                    let Some(whole) = self.whole_item()? else {
                        return Ok(());
                    };
                    item(whole);
                    self.position = Position::Items(left.map(|left| left - 1));
                }
                Position::Behind => return Ok(()),
            }
        }
    }

    /// Takes a head into the frame, if it is complete.
    fn keep_head(&mut self) -> Result<Option<Head>, MalformedCbor> {
        let Some((head, size)) = Head::read(&self.rest)? else {
            return Ok(None);
        };
        self.frame.extend_from_slice(&self.rest.split_to(size));
        Ok(Some(head))
    }

    /// Takes the next item, if it is complete.
    fn whole_item(&mut self) -> Result<Option<Bytes>, MalformedCbor> {
        let step = self.skipper.skip(&self.rest[self.skipped..])?;
        self.skipped += step.bytes;
        if !step.is_over {
            return Ok(None);
        }
        let item = self.rest.split_to(std::mem::take(&mut self.skipped));
        Ok(Some(item.freeze()))
    }
}

/// Returns true for the key of the items.
fn is_items(key: &[u8]) -> bool {
    cbor::read::<Text<'_>>(key).is_ok_and(|key| &*key == "items")
}
