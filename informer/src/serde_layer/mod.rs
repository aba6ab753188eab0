//! A deserializer that leaves out fields, and knows the lengths of arrays, throughout the values of a document.
//!
//! There is one for all decoders, whether they do either or not, and what does not depend on the type of a value is in functions
//! that do not either: each program compiles all of this once more for every type in its objects.

mod key;
mod lengths;

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use self::key::{Key, KeyDeserializer};
#[cfg(feature = "http")]
pub(crate) use self::lengths::ArrayLength;
pub(crate) use self::lengths::Lengths;
use crate::field_path::{DroppedFields, DroppedPaths};

/// The rules for a document.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// The lengths of its arrays, if it is JSON and they were measured.
    lengths: Option<&'a Lengths>,
    dropped: &'a DroppedFields<'a>,
    /// The dropped fields in the present value.
    paths: DroppedPaths,
}

/// A deserializer, or a visitor or a seed that is given it, under rules.
pub(crate) struct Layered<'a, T> {
    inner: T,
    rules: Rules<'a>,
}

/// The entries of a map.
struct LayeredMap<'a, A> {
    inner: A,
    rules: Rules<'a>,
    /// The rules for the value of the last key.
    value_rules: Rules<'a>,
}

/// The elements of a sequence.
struct LayeredSeq<'a, A> {
    inner: A,
    rules: Rules<'a>,
    /// True if all elements are dropped.
    is_dropped: bool,
    /// The number of elements that are left, where it was measured.
    left: Option<usize>,
}

// === impl Rules ===

impl<'a> Rules<'a> {
    pub(crate) fn new(lengths: Option<&'a Lengths>, dropped: &'a DroppedFields<'a>) -> Self {
        Self {
            lengths,
            dropped,
            paths: dropped.paths(),
        }
    }

    /// Returns the rules for the value of a key; `None` if it is dropped.
    fn of_value(self, key: &str) -> Option<Self> {
        let paths = self.dropped.after_key(self.paths, key)?;
        Some(Self { paths, ..self })
    }

    /// Returns the rules for each element of a sequence; `None` if all are dropped.
    fn of_elements(self) -> Option<Self> {
        let paths = self.dropped.after_element(self.paths)?;
        Some(Self { paths, ..self })
    }
}

// === impl Layered ===

impl<'a, T> Layered<'a, T> {
    pub(crate) fn new(inner: T, rules: Rules<'a>) -> Self {
        Self { inner, rules }
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
            let Self { inner, rules } = self;
            inner.$method($($argument,)* Layered::new(visitor, rules))
        })+
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Layered<'_, D> {
    type Error = D::Error;

    layered! {
        deserialize_any(),
        deserialize_option(),
        deserialize_seq(),
        deserialize_map(),
        deserialize_newtype_struct(name: &'static str),
        deserialize_tuple(len: usize),
        deserialize_tuple_struct(name: &'static str, len: usize),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
    }

    unchanged! {
        deserialize_bool(), deserialize_i8(), deserialize_i16(), deserialize_i32(), deserialize_i64(), deserialize_i128(),
        deserialize_u8(), deserialize_u16(), deserialize_u32(), deserialize_u64(), deserialize_u128(), deserialize_f32(),
        deserialize_f64(), deserialize_char(), deserialize_str(), deserialize_string(), deserialize_bytes(),
        deserialize_byte_buf(), deserialize_unit(), deserialize_identifier(),
        deserialize_unit_struct(name: &'static str),
    }

    /// Reads a map: objects have no structs that are written as arrays, and to accept both doubles the code of each struct.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let Some(lengths) = self.rules.lengths else {
            return self.inner.deserialize_ignored_any(visitor);
        };
        let skipped = <&RawValue>::deserialize(self.inner)?;
        lengths.note_skipped(skipped.get());
        visitor.visit_unit()
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

impl<'de, V: Visitor<'de>> Visitor<'de> for Layered<'_, V> {
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
        let Self { inner, rules } = self;
        inner.visit_some(Layered::new(deserializer, rules))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let Self { inner, rules } = self;
        inner.visit_newtype_struct(Layered::new(deserializer, rules))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let rules = self.rules.of_elements();
        self.inner.visit_seq(LayeredSeq {
            inner: elements,
            is_dropped: rules.is_none(),
            rules: rules.unwrap_or(self.rules),
            left: self.rules.lengths.map(Lengths::begin_array),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(LayeredMap {
            inner: entries,
            rules: self.rules,
            value_rules: self.rules,
        })
    }

    /// The variants of an enum are no entries of a map, and no rule applies to them.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(data)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Layered<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let Self { inner, rules } = self;
        inner.deserialize(Layered::new(deserializer, rules))
    }
}

// === impl LayeredMap ===

impl<A> LayeredMap<'_, A> {
    /// Returns the next key whose value is not dropped, and steps over the others.
    fn next_wanted<'de>(&mut self) -> Result<Option<Cow<'de, str>>, A::Error>
    where
        A: MapAccess<'de>,
    {
        while let Some(Key(key)) = self.inner.next_key()? {
            if let Some(rules) = self.rules.of_value(&key) {
                self.value_rules = rules;
                return Ok(Some(key));
            }
            let skipped = PhantomData::<IgnoredAny>;
            self.inner
                .next_value_seed(Layered::new(skipped, self.rules))?;
        }
        Ok(None)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for LayeredMap<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        match self.next_wanted()? {
            Some(key) => seed.deserialize(KeyDeserializer::new(key)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.inner
            .next_value_seed(Layered::new(seed, self.value_rules))
    }
}

// === impl LayeredSeq ===

impl<A> LayeredSeq<'_, A> {
    /// Returns whether another element may be wanted; steps over all elements if they are dropped.
    fn is_wanted<'de>(&mut self) -> Result<bool, A::Error>
    where
        A: SeqAccess<'de>,
    {
        if self.is_dropped {
            let skipped = || Layered::new(PhantomData::<IgnoredAny>, self.rules);
            while self.inner.next_element_seed(skipped())?.is_some() {}
        }
        self.left = self.left.map(|left| left.saturating_sub(1));
        Ok(!self.is_dropped)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for LayeredSeq<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        if self.is_wanted()? {
            self.inner.next_element_seed(Layered::new(seed, self.rules))
        } else {
            Ok(None)
        }
    }

    fn size_hint(&self) -> Option<usize> {
        if self.is_dropped {
            return Some(0);
        }
        self.left.or_else(|| self.inner.size_hint())
    }
}
