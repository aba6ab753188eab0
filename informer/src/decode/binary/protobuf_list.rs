//! Cuts the items out of a list in protobuf while it arrives.

use bytes::{Bytes, BytesMut};
use serde::Deserialize;

use super::{malformed, protobuf::status_in, protocol};
use crate::{
    decode::{
        Decoder,
        list_body::{ListEnd, status_or_malformed},
        peek::PeekList,
    },
    list_watch::ListWatchError,
    protobuf::{
        self, Defect, Envelope, MalformedProtobuf, MessageDeserializer, PREFIX, Reader, Wire,
    },
};

/// The pure core of reading a list that is not there yet.
///
/// # Memory
///
/// The item that has begun, and the list's type and metadata.
#[derive(Debug, Default)]
pub(crate) struct ProtobufList {
    /// The bytes that have come and are not cut yet.
    rest: BytesMut,
    position: Position,
    /// The type of the list, as a message.
    list_type: Bytes,
    /// The metadata of the list, as a message.
    metadata: Bytes,
    /// A status that came in place of a list, as a message.
    status: Bytes,
    has_beginning: bool,
    /// True if the list has begun, or the status was there.
    has_content: bool,
    defect: Option<Defect>,
}

/// The place of the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    #[default]
    Prefix,
    /// Between the fields of the envelope.
    Envelope,
    /// Between the fields of the list, with the number of bytes that are left.
    List(u64),
}

/// A field that is complete.
struct Field {
    number: u32,
    block: Option<Bytes>,
}

// === impl ProtobufList ===

impl ProtobufList {
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

    /// Returns the token of the next page, which comes before the items: once, when they begin.
    pub(crate) fn take_token(&mut self, decoder: &Decoder) -> Option<String> {
        if !std::mem::take(&mut self.has_beginning) {
            return None;
        }
        self.end(decoder).ok()?.continue_token
    }

    /// Reads the bytes outside of items at the end of the list.
    pub(crate) fn finish(self, decoder: &Decoder) -> Result<ListEnd, ListWatchError> {
        let broken_off = |what| MalformedProtobuf {
            message: "a list".to_owned(),
            field: "",
            what,
        };
        if let Some(defect) = self.defect {
            return Err(malformed("a body that is not a list", broken_off(defect)));
        }
        if self.position != Position::Envelope || !self.rest.is_empty() || !self.has_content {
            let error = broken_off(Defect::Truncated);
            return Err(ListWatchError::Transport(Box::new(error)));
        }
        self.end(decoder)
    }

    fn end(&self, decoder: &Decoder) -> Result<ListEnd, ListWatchError> {
        let mut envelope = Envelope {
            raw: &self.status,
            ..Envelope::default()
        };
        let of = envelope.read_type(&self.list_type);
        of.map_err(|what| {
            malformed(
                "a body that is not a list",
                Envelope::malformed("typeMeta", what),
            )
        })?;
        if self.is_status() {
            return Err(status_or_malformed(status_in(&envelope)));
        }
        decoder.check_protobuf_list(&envelope)?;
        let message = protobuf::message_named(protobuf::LIST_META);
        let metadata = protobuf::checked(message, &self.metadata)
            .map_err(|error| malformed("a list with malformed metadata", error))?;
        let metadata = PeekList::deserialize(MessageDeserializer::new(message, &metadata))
            .map_err(|error| malformed("a list with malformed metadata", error))?;
        ListEnd::new(&metadata)
    }

    fn is_status(&self) -> bool {
        let mut envelope = Envelope::default();
        envelope.read_type(&self.list_type).is_ok() && envelope.kind == "Status"
    }

    /// Cuts what is complete.
    fn cut(&mut self, item: &mut impl FnMut(Bytes)) -> Result<(), Defect> {
        loop {
            match self.position {
                Position::Prefix => {
                    let length = self.rest.len().min(PREFIX.len());
                    if self.rest[..length] != PREFIX[..length] {
                        return Err(Defect::NoPrefix);
                    }
                    if length < PREFIX.len() {
                        return Ok(());
                    }
                    drop(self.rest.split_to(length));
                    self.position = Position::Envelope;
                }
                Position::Envelope => {
                    if !self.is_status()
                        && let Some((length, size)) = self.list_head()?
                    {
                        drop(self.rest.split_to(size));
                        self.position = Position::List(length);
                        self.has_content = true;
                        continue;
                    }
                    let Some(field) = self.field(u64::MAX)? else {
                        return Ok(());
                    };
                    match (field.number, field.block) {
                        (1, Some(block)) => self.list_type = block,
                        (2, Some(block)) => {
                            self.status = block;
                            self.has_content = true;
                        }
                        _ => {}
                    }
                }
                Position::List(0) => {
                    // Of an empty list, nothing else shows that its metadata are there.
                    self.position = Position::Envelope;
                }
                Position::List(left) => {
                    let before = self.rest.len();
                    let Some(field) = self.field(left)? else {
                        return Ok(());
                    };
                    self.position = Position::List(left - (before - self.rest.len()) as u64);
                    match (field.number, field.block) {
                        (1, Some(block)) => {
                            self.metadata = block;
                            self.has_beginning = true;
                        }
                        (2, Some(block)) => item(block),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Returns the length of the list, and the size of what stands before it, if the list begins here.
    fn list_head(&self) -> Result<Option<(u64, usize)>, Defect> {
        let mut reader = Reader::new(&self.rest);
        match whole(reader.tag())? {
            Some((2, Wire::Block)) => {}
            _ => return Ok(None),
        }
        let length = whole(reader.varint())?;
        Ok(length.map(|length| (length, self.rest.len() - reader.rest().len())))
    }

    /// Takes the next field, if it is complete; it may have `left` bytes.
    fn field(&mut self, left: u64) -> Result<Option<Field>, Defect> {
        let mut reader = Reader::new(&self.rest);
        let Some((number, wire)) = whole(reader.tag())? else {
            return Ok(None);
        };
        let mut length = None;
        if wire == Wire::Block {
            length = whole(reader.varint())?;
            let head = (self.rest.len() - reader.rest().len()) as u64;
            match length {
                None => return Ok(None),
                Some(length) if length.saturating_add(head) > left => {
                    return Err(Defect::Truncated);
                }
                Some(length) if length > reader.rest().len() as u64 => return Ok(None),
                Some(_) => {}
            }
        } else if whole(reader.skip(wire))?.is_none() {
            return Ok(None);
        }
        let head = self.rest.len() - reader.rest().len();
        if head as u64 > left {
            return Err(Defect::Truncated);
        }
        drop(self.rest.split_to(head));
        let block = length.map(|length| {
            let length = usize::try_from(length).unwrap_or_default();
            self.rest.split_to(length).freeze()
        });
        Ok(Some(Field { number, block }))
    }
}

/// Distinguishes an incomplete input from a malformed one.
fn whole<T>(read: Result<T, Defect>) -> Result<Option<T>, Defect> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Defect::Truncated) => Ok(None),
        Err(defect) => Err(defect),
    }
}

// === impl Decoder ===

impl Decoder {
    /// Refuses a list of another type than the one that was asked for: its numbers would be read as other fields.
    fn check_protobuf_list(&self, envelope: &Envelope<'_>) -> Result<(), ListWatchError> {
        let (api_version, kind) = (&*envelope.api_version, &*envelope.kind);
        self.check_list_type(api_version, kind)?;
        let item = kind.strip_suffix("List");
        let is_expected = item == Some(&self.kind) && api_version == self.api_version;
        if is_expected || self.is_metadata_only && item.is_some() {
            return Ok(());
        }
        Err(protocol(format!(
            "{kind} of {api_version} where a list of {} of {} was asked for",
            self.kind, self.api_version
        )))
    }
}
