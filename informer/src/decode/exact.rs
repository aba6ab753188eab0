//! Decodes an object whose vectors are as long as they need to be.
//!
//! A parser of JSON does not know how long an array is before it ends, so that vectors grow by doubling, and what they do not
//! fill stays with them: a tenth of the memory of a pod. Here arrays have been measured, by the outline.

use std::{cell::Cell, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// How many elements the arrays of an object have, as a parser comes to them.
///
/// A length is a hint: one that is wrong costs memory, and nothing else.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// Where the JSON is in memory: what was skipped of it tells how far the parser has come.
    begin: usize,
    /// In the order in which they begin.
    arrays: Vec<ArrayLength>,
    /// The first of them that the parser has not come to.
    next: Cell<usize>,
}

/// How many strings and nested values an array has. Numbers are not counted: there are few vectors of them.
#[derive(Debug)]
pub(super) struct ArrayLength {
    /// Its place in the JSON.
    pub(super) begin: usize,
    pub(super) len: usize,
}

/// A deserializer of the JSON, or a visitor, a seed or an access that is given it, whose sequences know their lengths.
pub(super) struct Exact<'a, T> {
    inner: T,
    lengths: &'a Lengths,
}

/// The elements of an array.
struct ExactSeq<'a, A> {
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

// === impl Exact ===

impl<'a, T> Exact<'a, T> {
    pub(super) fn new(inner: T, lengths: &'a Lengths) -> Self {
        Self { inner, lengths }
    }
}

/// What has no arrays is decoded as it is.
macro_rules! as_it_is {
    ($($method:ident),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(visitor)
        })+
    };
}

/// What may have arrays is shown to a visitor that is told how long they are.
macro_rules! measured {
    ($($method:ident($($argument:ident: $type:ty),*)),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let Self { inner, lengths } = self;
            inner.$method($($argument,)* Exact { inner: visitor, lengths })
        })+
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Exact<'_, D> {
    type Error = D::Error;

    measured! {
        deserialize_any(),
        deserialize_option(),
        deserialize_seq(),
        deserialize_map(),
        deserialize_newtype_struct(name: &'static str),
        deserialize_tuple(len: usize),
        deserialize_tuple_struct(name: &'static str, len: usize),
        deserialize_struct(name: &'static str, fields: &'static [&'static str]),
    }

    as_it_is! {
        deserialize_bool, deserialize_i8, deserialize_i16, deserialize_i32, deserialize_i64, deserialize_i128,
        deserialize_u8, deserialize_u16, deserialize_u32, deserialize_u64, deserialize_u128, deserialize_f32,
        deserialize_f64, deserialize_char, deserialize_str, deserialize_string, deserialize_bytes,
        deserialize_byte_buf, deserialize_unit, deserialize_identifier,
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let skipped = <&RawValue>::deserialize(self.inner)?;
        self.lengths.note_skipped(skipped.get());
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_enum(name, variants, visitor)
    }
}

/// What a visitor is shown as it is.
macro_rules! shown {
    ($($method:ident: $type:ty),+ $(,)?) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$method(value)
        })+
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Exact<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    shown! {
        visit_bool: bool,
        visit_i64: i64,
        visit_u64: u64,
        visit_f64: f64,
        visit_str: &str,
        visit_borrowed_str: &'de str,
        visit_string: String,
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let Self { inner, lengths } = self;
        inner.visit_some(Exact::new(deserializer, lengths))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let Self { inner, lengths } = self;
        inner.visit_newtype_struct(Exact::new(deserializer, lengths))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let Self { inner, lengths } = self;
        inner.visit_seq(ExactSeq {
            inner: elements,
            lengths,
            left: lengths.begin_array(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let Self { inner, lengths } = self;
        inner.visit_map(Exact::new(map, lengths))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Exact<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let Self { inner, lengths } = self;
        inner.deserialize(Exact::new(deserializer, lengths))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Exact<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.next_value_seed(Exact::new(seed, self.lengths))
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
        self.inner.next_element_seed(Exact::new(seed, self.lengths))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}
