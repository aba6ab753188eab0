//! Leaves out fields while an object is decoded: dropped ones are skipped, and never built.

use std::borrow::Cow;

use serde::{
    Deserialize,
    de::{DeserializeSeed, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess},
};

use super::{FieldPath, Step, after_element, after_key};
use crate::serde_layer::{Layer, Layered};

/// The paths of dropped fields within a value: the steps that are left on each. None of them is at its end, but in a sequence
/// all of whose elements are dropped.
pub(crate) struct Dropped<'a>(Vec<&'a [Step]>);

/// The elements of a sequence.
pub(crate) struct PrunedSeq<'a, A> {
    inner: A,
    paths: Vec<&'a [Step]>,
}

/// The fields of a map.
pub(crate) struct PrunedMap<'a, A> {
    inner: A,
    paths: Vec<&'a [Step]>,
    /// The paths that go on in the value of the last key.
    rest: Vec<&'a [Step]>,
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

// === impl Dropped ===

impl<'a> Dropped<'a> {
    pub(crate) fn new(paths: &'a [FieldPath]) -> Self {
        Self(paths.iter().map(|path| &*path.0).collect())
    }
}

impl<'de, 'a> Layer<'de> for Dropped<'a> {
    type Seq<A: SeqAccess<'de>> = PrunedSeq<'a, A>;
    type Map<A: MapAccess<'de>> = PrunedMap<'a, A>;

    fn seq<A: SeqAccess<'de>>(self, elements: A) -> PrunedSeq<'a, A> {
        PrunedSeq {
            inner: elements,
            paths: self.0.into_iter().map(after_element).collect(),
        }
    }

    fn map<A: MapAccess<'de>>(self, entries: A) -> PrunedMap<'a, A> {
        PrunedMap {
            inner: entries,
            paths: self.0,
            rest: Vec::new(),
        }
    }
}

// === impl PrunedSeq ===

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for PrunedSeq<'_, A> {
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
        let dropped = Dropped(self.paths.clone());
        self.inner.next_element_seed(Layered::new(seed, dropped))
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
        let dropped = Dropped(std::mem::take(&mut self.rest));
        self.inner.next_value_seed(Layered::new(seed, dropped))
    }
}
