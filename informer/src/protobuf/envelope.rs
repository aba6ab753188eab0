//! The envelopes of messages: the prefix and the type of an object, the type of a watch event.

use std::borrow::Cow;

use super::{
    error::{Defect, MalformedProtobuf},
    reader::{Reader, Wire},
};

/// The prefix of every object that is no part of another one.
pub(crate) const PREFIX: [u8; 4] = *b"k8s\0";

/// An object with its type, of which the content is not read.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) api_version: Cow<'a, str>,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) raw: &'a [u8],
}

/// A frame of a watch, of which the object is not read.
#[derive(Debug, Default)]
pub(crate) struct WatchFrame<'a> {
    pub(crate) event_type: Cow<'a, str>,
    /// An object with its envelope.
    pub(crate) object: Option<&'a [u8]>,
}

// === impl Envelope ===

impl<'a> Envelope<'a> {
    /// Reads the envelope of an object.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, MalformedProtobuf> {
        let Some(bytes) = bytes.strip_prefix(&PREFIX) else {
            return Err(Self::malformed("", Defect::NoPrefix));
        };
        let mut found = Self::default();
        each_block(bytes, |number, block| match number {
            1 => found.read_type(block),
            2 => {
                found.raw = block;
                Ok(())
            }
            _ => Ok(()),
        })
        .map_err(|defect| Self::malformed("", defect))?;
        Ok(found)
    }

    /// Reads the type of an object.
    pub(crate) fn read_type(&mut self, bytes: &'a [u8]) -> Result<(), Defect> {
        each_block(bytes, |number, block| {
            match number {
                1 => self.api_version = String::from_utf8_lossy(block),
                2 => self.kind = String::from_utf8_lossy(block),
                _ => {}
            }
            Ok(())
        })
    }

    pub(crate) fn malformed(field: &'static str, what: Defect) -> MalformedProtobuf {
        MalformedProtobuf {
            message: "runtime.Unknown".to_owned(),
            field,
            what,
        }
    }
}

// === impl WatchFrame ===

impl<'a> WatchFrame<'a> {
    /// Reads the type of an event.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, MalformedProtobuf> {
        let mut found = Self::default();
        let read = each_block(bytes, |number, block| match number {
            1 => {
                found.event_type = String::from_utf8_lossy(block);
                Ok(())
            }
            2 => each_block(block, |number, raw| {
                if number == 1 {
                    found.object = Some(raw);
                }
                Ok(())
            }),
            _ => Ok(()),
        });
        read.map_err(|what| MalformedProtobuf {
            message: "v1.WatchEvent".to_owned(),
            field: "",
            what,
        })?;
        Ok(found)
    }
}

/// Hands on the blocks of a message with their numbers, and steps over all else.
fn each_block<'a>(
    bytes: &'a [u8],
    mut read: impl FnMut(u32, &'a [u8]) -> Result<(), Defect>,
) -> Result<(), Defect> {
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let (number, wire) = reader.tag()?;
        if wire == Wire::Block {
            read(number, reader.block()?)?;
        } else {
            reader.skip(wire)?;
        }
    }
    Ok(())
}
