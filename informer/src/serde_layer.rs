//! A deserializer that hands a rule down through the values of a document.
//!
//! The rule decides about sequences, maps and skipped values; everything else passes through unchanged.

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, Visitor},
};

/// A rule about the values of a document.
pub(crate) trait Layer<'de>: Sized {
    /// The elements of a sequence under the rule.
    type Seq<A: SeqAccess<'de>>: SeqAccess<'de, Error = A::Error>;
    /// The entries of a map under the rule.
    type Map<A: MapAccess<'de>>: MapAccess<'de, Error = A::Error>;

    fn seq<A: SeqAccess<'de>>(self, elements: A) -> Self::Seq<A>;

    fn map<A: MapAccess<'de>>(self, entries: A) -> Self::Map<A>;

    /// Skips a value.
    fn skip<D: Deserializer<'de>, V: Visitor<'de>>(
        self,
        deserializer: D,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        deserializer.deserialize_ignored_any(visitor)
    }
}

/// A deserializer, or a visitor or a seed that is given it, under a rule.
pub(crate) struct Layered<T, L> {
    inner: T,
    layer: L,
}

// === impl Layered ===

impl<T, L> Layered<T, L> {
    pub(crate) fn new(inner: T, layer: L) -> Self {
        Self { inner, layer }
    }
}

/// Methods for values that contain no others.
macro_rules! unchanged {
    ($($method:ident($($argument:ident: $type:ty),*)),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method($($argument,)* visitor)
        })+
    };
}

/// Methods for values that may contain others.
macro_rules! layered {
    ($($method:ident($($argument:ident: $type:ty),*)),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let Self { inner, layer } = self;
            inner.$method($($argument,)* Layered::new(visitor, layer))
        })+
    };
}

impl<'de, D: Deserializer<'de>, L: Layer<'de>> Deserializer<'de> for Layered<D, L> {
    type Error = D::Error;

    layered! {
        deserialize_any(),
        deserialize_option(),
        deserialize_seq(),
        deserialize_map(),
        deserialize_newtype_struct(name: &'static str),
        deserialize_tuple(len: usize),
        deserialize_tuple_struct(name: &'static str, len: usize),
        deserialize_struct(name: &'static str, fields: &'static [&'static str]),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
    }

    unchanged! {
        deserialize_bool(), deserialize_i8(), deserialize_i16(), deserialize_i32(), deserialize_i64(), deserialize_i128(),
        deserialize_u8(), deserialize_u16(), deserialize_u32(), deserialize_u64(), deserialize_u128(), deserialize_f32(),
        deserialize_f64(), deserialize_char(), deserialize_str(), deserialize_string(), deserialize_bytes(),
        deserialize_byte_buf(), deserialize_unit(), deserialize_identifier(),
        deserialize_unit_struct(name: &'static str),
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.layer.skip(self.inner, visitor)
    }
}

/// Visits of values that contain no others.
macro_rules! passed_on {
    ($($method:ident: $type:ty),+ $(,)?) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$method(value)
        })+
    };
}

impl<'de, V: Visitor<'de>, L: Layer<'de>> Visitor<'de> for Layered<V, L> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    passed_on! {
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
        let Self { inner, layer } = self;
        inner.visit_some(Layered::new(deserializer, layer))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let Self { inner, layer } = self;
        inner.visit_newtype_struct(Layered::new(deserializer, layer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let Self { inner, layer } = self;
        inner.visit_seq(layer.seq(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        let Self { inner, layer } = self;
        inner.visit_map(layer.map(entries))
    }

    /// The variants of an enum are no entries of a map, and no rule applies to them.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(data)
    }
}

impl<'de, S: DeserializeSeed<'de>, L: Layer<'de>> DeserializeSeed<'de> for Layered<S, L> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let Self { inner, layer } = self;
        inner.deserialize(Layered::new(deserializer, layer))
    }
}
