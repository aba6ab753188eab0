//! Leaves out fields while an object is decoded: what is dropped is skipped, and never built.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, EnumAccess, Error, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
        Visitor,
    },
};

use super::{FieldPath, Step, after_element, after_key};

/// A value without what `paths` lead to: its deserializer, or a visitor, a seed or an access that is given it.
pub(crate) struct Pruned<'a, T> {
    inner: T,
    /// The steps that are left on each path; none of them is at its end.
    paths: Vec<&'a [Step]>,
}

/// The fields of a map.
struct PrunedMap<'a, A> {
    inner: A,
    paths: Vec<&'a [Step]>,
    /// The paths that go on in the value of the last key.
    rest: Vec<&'a [Step]>,
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

// === impl Pruned ===

impl<'a, T> Pruned<'a, T> {
    pub(crate) fn new(inner: T, paths: &'a [FieldPath]) -> Self {
        let paths = paths.iter().map(|path| &*path.0).collect();
        Self { inner, paths }
    }
}

/// What has no fields is decoded as it is.
macro_rules! as_it_is {
    ($($method:ident),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method(visitor)
        })+
    };
}

/// What may have fields is shown to the visitor without those that are dropped.
macro_rules! without_fields {
    ($($method:ident($($argument:ident: $type:ty),*)),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let Self { inner, paths } = self;
            inner.$method($($argument,)* Pruned { inner: visitor, paths })
        })+
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Pruned<'_, D> {
    type Error = D::Error;

    without_fields! {
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

    as_it_is! {
        deserialize_bool, deserialize_i8, deserialize_i16, deserialize_i32, deserialize_i64, deserialize_i128,
        deserialize_u8, deserialize_u16, deserialize_u32, deserialize_u64, deserialize_u128, deserialize_f32,
        deserialize_f64, deserialize_char, deserialize_str, deserialize_string, deserialize_bytes,
        deserialize_byte_buf, deserialize_unit, deserialize_identifier, deserialize_ignored_any,
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_unit_struct(name, visitor)
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

impl<'de, V: Visitor<'de>> Visitor<'de> for Pruned<'_, V> {
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
        let Self { inner, paths } = self;
        inner.visit_some(Pruned {
            inner: deserializer,
            paths,
        })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let Self { inner, paths } = self;
        inner.visit_newtype_struct(Pruned {
            inner: deserializer,
            paths,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let Self { inner, paths } = self;
        let paths = paths.into_iter().map(after_element).collect();
        inner.visit_seq(Pruned {
            inner: elements,
            paths,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let Self { inner, paths } = self;
        inner.visit_map(PrunedMap {
            inner: map,
            paths,
            rest: Vec::new(),
        })
    }

    /// The variants of an enum are not fields.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(data)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Pruned<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        if self.paths.iter().any(|steps| steps.is_empty()) {
            // All elements are dropped.
            while self.inner.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(None);
        }
        self.inner.next_element_seed(Pruned {
            inner: seed,
            paths: self.paths.clone(),
        })
    }

    fn size_hint(&self) -> Option<usize> {
        let are_dropped = self.paths.iter().any(|steps| steps.is_empty());
        if are_dropped {
            Some(0)
        } else {
            self.inner.size_hint()
        }
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Pruned<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let Self { inner, paths } = self;
        inner.deserialize(Pruned {
            inner: deserializer,
            paths,
        })
    }
}

// === impl PrunedMap ===

impl<'de, A: MapAccess<'de>> MapAccess<'de> for PrunedMap<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        while let Some(Key(key)) = self.inner.next_key()? {
            let paths = self.paths.iter();
            self.rest = paths.filter_map(|steps| after_key(steps, &key)).collect();
            if self.rest.iter().any(|steps| steps.is_empty()) {
                self.inner.next_value::<IgnoredAny>()?;
                continue;
            }
            return seed.deserialize(key.into_deserializer()).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        if self.rest.is_empty() {
            return self.inner.next_value_seed(seed);
        }
        self.inner.next_value_seed(Pruned {
            inner: seed,
            paths: std::mem::take(&mut self.rest),
        })
    }
}
