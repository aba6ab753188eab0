//! Reads JSON, or a format decoded like it, along a path, and skips everything else.

use std::{fmt, sync::Arc};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{Step, after_element, after_key};

/// A value to which `steps` are left.
pub(super) struct Walk<'a> {
    steps: &'a [Step],
    found: &'a mut Vec<Arc<str>>,
}

/// A key; gives the steps that are left after it.
struct Key<'a>(&'a [Step]);

pub(super) fn read(
    json: &[u8],
    steps: &[Step],
    found: &mut Vec<Arc<str>>,
) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_slice(json);
    Walk::new(steps, found).deserialize(&mut json)?;
    json.end()
}

// === impl Walk ===

impl<'a> Walk<'a> {
    pub(super) fn new(steps: &'a [Step], found: &'a mut Vec<Arc<str>>) -> Self {
        Self { steps, found }
    }

    fn text(self, text: impl Into<Arc<str>>) {
        if self.steps.is_empty() {
            self.found.push(text.into());
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.text(value.to_string());
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.text(value.to_string());
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.text(value.to_string());
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.text(value.to_string());
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.text(value);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self { steps, found } = self;
        let steps = after_element(steps);
        while elements.next_element_seed(Walk { steps, found })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { steps, found } = self;
        while let Some(rest) = map.next_key_seed(Key(steps))? {
            match rest {
                Some(steps) => map.next_value_seed(Walk { steps, found })?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

// === impl Key ===

impl<'de, 'a> DeserializeSeed<'de> for Key<'a> {
    type Value = Option<&'a [Step]>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Key<'a> {
    type Value = Option<&'a [Step]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(after_key(self.0, key))
    }
}
