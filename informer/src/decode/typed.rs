//! Decodes an object as if it began with the kind and apiVersion that it lacks.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IntoDeserializer, MapAccess, Visitor, value::StrDeserializer},
    forward_to_deserialize_any,
};

/// Decodes an object; if it has no type, with these API version and kind put in front. Nothing is copied to do so.
pub(super) fn with_type<'de, K: Deserialize<'de>, D: Deserializer<'de>>(
    inner: D,
    object_type: Option<(&str, &str)>,
) -> Result<K, D::Error> {
    let (api_version, kind) = object_type.unwrap_or_default();
    K::deserialize(WithType {
        inner,
        fields: [("apiVersion", api_version), ("kind", kind)],
        next: if object_type.is_some() { 0 } else { FIELDS },
    })
}

/// The number of fields that are put in front.
const FIELDS: usize = 2;

struct WithType<'a, D> {
    inner: D,
    fields: [(&'static str, &'a str); FIELDS],
    /// The first of them that is put in front.
    next: usize,
}

/// Hands a map on with the fields in front of its own.
struct FieldsFirst<'a, I> {
    inner: I,
    fields: [(&'static str, &'a str); FIELDS],
    next: usize,
}

// === impl WithType ===

impl<'de, D: Deserializer<'de>> Deserializer<'de> for WithType<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(FieldsFirst {
            inner: visitor,
            fields: self.fields,
            next: self.next,
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(FieldsFirst {
            inner: visitor,
            fields: self.fields,
            next: self.next,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct enum identifier ignored_any
    }
}

// === impl FieldsFirst ===

impl<'de, V: Visitor<'de>> Visitor<'de> for FieldsFirst<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.inner.visit_map(FieldsFirst {
            inner: map,
            fields: self.fields,
            next: self.next,
        })
    }
}

impl<'de, 'a, A: MapAccess<'de>> MapAccess<'de> for FieldsFirst<'a, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let Some((key, _)) = self.fields.get(self.next) else {
            return self.inner.next_key_seed(seed);
        };
        let key: StrDeserializer<'a, A::Error> = (*key).into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let Some((_, value)) = self.fields.get(self.next) else {
            return self.inner.next_value_seed(seed);
        };
        self.next += 1;
        let value: StrDeserializer<'a, A::Error> = (*value).into_deserializer();
        seed.deserialize(value)
    }
}
