//! Objects without the fields of their managers, which are as large as all else.

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Map, Value};

/// Reads the JSON of a stored object, but for its `managedFields`.
///
/// # Panics
///
/// If it is no object.
pub fn without_managed_fields(json: &[u8]) -> Value {
    let mut source = serde_json::Deserializer::from_slice(json);
    let value = Members::OfObject.deserialize(&mut source);
    value.expect("stored objects are serialized values")
}

/// The members of an object, or of its metadata.
#[derive(Clone, Copy)]
enum Members {
    OfObject,
    OfMetadata,
}

// === impl Members ===

impl<'de> DeserializeSeed<'de> for Members {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = match (self, &*name) {
                (Self::OfObject, "metadata") => members.next_value_seed(Self::OfMetadata)?,
                (Self::OfMetadata, "managedFields") => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
                _ => members.next_value()?,
            };
            read.insert(name, value);
        }
        Ok(Value::Object(read))
    }
}
