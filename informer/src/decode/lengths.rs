//! Decodes an object whose vectors are as long as they need to be.
//!
//! A parser of JSON does not know how long an array is before it ends, so that vectors grow by doubling, and what they do not
//! fill stays with them: a tenth of the memory of a pod. Here arrays have been measured, by the outline.

use std::cell::Cell;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::serde_layer::{Layer, Layered};

/// The number of elements of each array of an object, in the order in which a parser reaches them.
///
/// A length is a hint: one that is wrong costs memory, and nothing else.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// The address of the JSON in memory: the skipped part shows how far the parser has come.
    begin: usize,
    /// In the order in which they begin.
    arrays: Vec<ArrayLength>,
    /// The first of them that the parser has not come to.
    next: Cell<usize>,
}

/// The number of strings and nested values of an array. Numbers are not counted: there are few vectors of them.
#[derive(Debug)]
pub(super) struct ArrayLength {
    /// Its place in the JSON.
    pub(super) begin: usize,
    pub(super) len: usize,
}

/// The entries of a map.
pub(super) struct ExactMap<'a, A> {
    inner: A,
    lengths: &'a Lengths,
}

/// The elements of an array.
pub(super) struct ExactSeq<'a, A> {
    inner: A,
    lengths: &'a Lengths,
    left: usize,
}

// === impl Lengths ===

impl Lengths {
    /// Of `json`, whose arrays these are, in the order in which they begin.
    pub(super) fn new(json: &str, arrays: Vec<ArrayLength>) -> Self {
        Self {
            begin: json.as_ptr().addr(),
            arrays,
            next: Cell::new(0),
        }
    }

    #[cfg(test)]
    pub(super) fn arrays(&self) -> Vec<usize> {
        self.arrays.iter().map(|array| array.len).collect()
    }

    /// Notes that the parser has stepped over `json`, and the arrays in it.
    fn note_skipped(&self, json: &str) {
        let end = json.as_ptr().addr() + json.len();
        let rest = self.arrays.iter().skip(self.next.get());
        let skipped = rest
            .take_while(|array| self.begin + array.begin < end)
            .count();
        self.next.set(self.next.get() + skipped);
    }

    /// The length of the array that begins here.
    fn begin_array(&self) -> usize {
        let next = self.next.get();
        self.next.set(next + 1);
        self.arrays.get(next).map_or(0, |array| array.len)
    }
}

impl<'de, 'a> Layer<'de> for &'a Lengths {
    type Seq<A: SeqAccess<'de>> = ExactSeq<'a, A>;
    type Map<A: MapAccess<'de>> = ExactMap<'a, A>;

    fn seq<A: SeqAccess<'de>>(self, elements: A) -> ExactSeq<'a, A> {
        ExactSeq {
            inner: elements,
            lengths: self,
            left: self.begin_array(),
        }
    }

    fn map<A: MapAccess<'de>>(self, entries: A) -> ExactMap<'a, A> {
        ExactMap {
            inner: entries,
            lengths: self,
        }
    }

    fn skip<D: Deserializer<'de>, V: Visitor<'de>>(
        self,
        deserializer: D,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let skipped = <&RawValue>::deserialize(deserializer)?;
        self.note_skipped(skipped.get());
        visitor.visit_unit()
    }
}

// === impl ExactMap ===

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ExactMap<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(Layered::new(seed, self.lengths))
    }
}

// === impl ExactSeq ===

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ExactSeq<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.left = self.left.saturating_sub(1);
        self.inner
            .next_element_seed(Layered::new(seed, self.lengths))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}
