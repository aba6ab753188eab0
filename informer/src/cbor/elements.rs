//! The elements of an array and the entries of a map, one by one.

use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::deserializer::{CborDeserializer, Reader, custom};

/// The elements of an array.
pub(super) struct Elements<'a, 'de>(Items<'a, 'de>);

/// The entries of a map.
pub(super) struct Entries<'a, 'de>(Items<'a, 'de>);

/// The items that are left: a number of them, or all to the break.
struct Items<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: Option<u64>,
    is_over: bool,
}

// === impl Elements ===

impl<'a, 'de> Elements<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>, length: Option<u64>) -> Self {
        Self(Items::new(reader, length))
    }

    /// Steps over the elements that were not read.
    pub(super) fn finish(mut self) -> serde_json::Result<()> {
        while self.0.has_next() {
            self.0.reader.skip().map_err(custom)?;
        }
        Ok(())
    }
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = serde_json::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Self::Error> {
        if !self.0.has_next() {
            return Ok(None);
        }
        seed.deserialize(CborDeserializer(self.0.reader)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

// === impl Entries ===

impl<'a, 'de> Entries<'a, 'de> {
    pub(super) fn new(reader: &'a mut Reader<'de>, length: Option<u64>) -> Self {
        Self(Items::new(reader, length))
    }

    /// Steps over the entries that were not read.
    pub(super) fn finish(mut self) -> serde_json::Result<()> {
        while self.0.has_next() {
            self.0.reader.skip().map_err(custom)?;
            self.0.reader.skip().map_err(custom)?;
        }
        Ok(())
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_, 'de> {
    type Error = serde_json::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Self::Error> {
        if !self.0.has_next() {
            return Ok(None);
        }
        seed.deserialize(self.0.reader.key().map_err(custom)?)
            .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Self::Error> {
        seed.deserialize(CborDeserializer(self.0.reader))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

// === impl Items ===

impl<'a, 'de> Items<'a, 'de> {
    fn new(reader: &'a mut Reader<'de>, left: Option<u64>) -> Self {
        Self {
            reader,
            left,
            is_over: false,
        }
    }

    /// Takes one off; returns false if none is left.
    fn has_next(&mut self) -> bool {
        match &mut self.left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => {
                self.is_over = self.is_over || self.reader.take_break();
                !self.is_over
            }
        }
    }

    fn size_hint(&self) -> Option<usize> {
        usize::try_from(self.left?).ok()
    }
}
