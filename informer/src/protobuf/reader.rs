//! The parts of a message as they are written: tags, integers, blocks.

use super::error::Defect;

/// The rest of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

/// The form of a value on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Varint,
    Fixed64,
    Block,
    Fixed32,
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    /// Reads the number and the form of the next field.
    pub(crate) fn tag(&mut self) -> Result<(u32, Wire), Defect> {
        let tag = self.varint().map_err(|defect| match defect {
            Defect::Integer => Defect::Tag,
            defect => defect,
        })?;
        let wire = match tag & 7 {
            0 => Wire::Varint,
            1 => Wire::Fixed64,
            2 => Wire::Block,
            5 => Wire::Fixed32,
            _ => return Err(Defect::Tag),
        };
        match u32::try_from(tag >> 3) {
            Ok(number) if number > 0 => Ok((number, wire)),
            _ => Err(Defect::Tag),
        }
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Defect> {
        if let [byte @ 0..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Ok(u64::from(*byte));
        }
        let mut value = 0;
        for (at, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Ok(value);
            }
        }
        Err(if self.0.len() < 10 {
            Defect::Truncated
        } else {
            Defect::Integer
        })
    }

    /// Reads a length, and that many bytes.
    pub(crate) fn block(&mut self) -> Result<&'a [u8], Defect> {
        let length = self.varint()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    pub(crate) fn double(&mut self) -> Result<f64, Defect> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Defect::Truncated)?;
        self.0 = rest;
        Ok(f64::from_le_bytes(*bytes))
    }

    /// Steps over a value.
    pub(crate) fn skip(&mut self, wire: Wire) -> Result<(), Defect> {
        match wire {
            Wire::Varint => self.varint().map(drop),
            Wire::Fixed64 => self.take(8).map(drop),
            Wire::Block => self.block().map(drop),
            Wire::Fixed32 => self.take(4).map(drop),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Defect> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Defect::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }
}
