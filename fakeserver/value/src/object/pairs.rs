//! Labels and selectable fields: names and values in little memory.

use std::{borrow::Cow, fmt, iter::FusedIterator, ops::Index, slice, sync::Arc};

use crate::pool::Pool;

/// The names of all pairs in the process.
static NAMES: Pool<Names> = Pool::new();

/// Names with a value each, in the order of the names, byte for byte.
///
/// # Memory
///
/// The text of the values, and mostly a byte for each: a store holds two of them for each of its objects. The names are
/// shared by all in the process that have the same.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pairs {
    // First, since they differ more often than the names.
    values: Values,
    names: Arc<Names>,
}

/// The [`Pairs`] one by one.
#[derive(Clone, Debug)]
pub struct PairsIter<'a> {
    names: slice::Iter<'a, Box<str>>,
    /// The lengths of the remaining values.
    lengths: &'a [u8],
    text: &'a [u8],
}

type Names = Box<[Box<str>]>;

/// The number of bits of a length that a byte holds.
const LENGTH_BITS: u32 = 7;
/// Set in all bytes of a length but the last.
const LENGTH_GOES_ON: u8 = 1 << LENGTH_BITS;

/// Texts in one piece of memory: their lengths, and then their bytes. A length is written in seven bits a byte, the
/// lowest first; the eighth bit says that another byte follows.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Values(Box<[u8]>);

// === impl Pairs ===

impl Pairs {
    /// The same names with other values: parts of `text`, each of which ends at the next one of `ends`.
    pub fn with_values(&self, text: &str, ends: &[u32]) -> Self {
        debug_assert_eq!(ends.len(), self.len(), "a name has a value");
        Self {
            names: self.names.clone(),
            values: Values::new(text, ends),
        }
    }

    /// The text of all values, and where each of them ends.
    pub fn values(&self) -> (String, Vec<u32>) {
        let mut text = String::new();
        let ends = self.iter().map(|(_, value)| {
            text.push_str(value);
            end_of(&text)
        });
        let ends = ends.collect();
        (text, ends)
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        // A handful at most.
        let place = self.names.iter().position(|other| **other == *name)?;
        Some(self.values.get(place, self.len()))
    }

    /// The names and their values, in the order of the names.
    pub fn iter(&self) -> PairsIter<'_> {
        let (lengths, text) = self.values.parts(self.len());
        PairsIter {
            names: self.names.iter(),
            lengths,
            text,
        }
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl<'a, K: Into<Cow<'a, str>>, V: Into<Cow<'a, str>>> FromIterator<(K, V)> for Pairs {
    /// Collects pairs; the last pair of a name wins.
    ///
    /// # Panics
    ///
    /// If it is more than 4 GiB of text.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter();
        let mut sorted: Vec<(Cow<'a, str>, Cow<'a, str>)> = pairs
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        // The last one comes first of those with the same name, and stays.
        sorted.reverse();
        sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
        sorted.dedup_by(|(earlier, _), (last, _)| earlier == last);
        let mut text = String::new();
        let mut ends = Vec::with_capacity(sorted.len());
        for (_, value) in &sorted {
            text.push_str(value);
            ends.push(end_of(&text));
        }
        let names: Names = sorted.into_iter().map(|(name, _)| name.into()).collect();
        Self {
            names: NAMES.share(names),
            values: Values::new(&text, &ends),
        }
    }
}

impl Index<&str> for Pairs {
    type Output = str;

    /// The value of `name`.
    ///
    /// # Panics
    ///
    /// There is no value of that name.
    fn index(&self, name: &str) -> &str {
        self.get(name)
            .unwrap_or_else(|| panic!("there is no {name:?}"))
    }
}

impl<'a> IntoIterator for &'a Pairs {
    type Item = (&'a str, &'a str);
    type IntoIter = PairsIter<'a>;

    fn into_iter(self) -> PairsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

// === impl PairsIter ===

impl<'a> Iterator for PairsIter<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.names.next()?;
        let (value, text) = self.text.split_at(read_length(&mut self.lengths));
        self.text = text;
        Some((name, as_text(value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.names.size_hint()
    }
}

impl ExactSizeIterator for PairsIter<'_> {}

impl FusedIterator for PairsIter<'_> {}

// === impl Values ===

impl Values {
    fn new(text: &str, ends: &[u32]) -> Self {
        let mut bytes = Vec::with_capacity(ends.len() + text.len());
        let mut start = 0;
        for end in ends {
            write_length(end - start, &mut bytes);
            start = *end;
        }
        bytes.extend_from_slice(text.as_bytes());
        Self(bytes.into())
    }

    /// The lengths of `count` texts, and the texts.
    fn parts(&self, count: usize) -> (&[u8], &[u8]) {
        let mut text = &*self.0;
        for _ in 0..count {
            read_length(&mut text);
        }
        (&self.0[..self.0.len() - text.len()], text)
    }

    /// The text at `place` of `count`.
    fn get(&self, place: usize, count: usize) -> &str {
        let (mut lengths, mut text) = self.parts(count);
        for _ in 0..place {
            text = &text[read_length(&mut lengths)..];
        }
        as_text(&text[..read_length(&mut lengths)])
    }
}

fn write_length(mut length: u32, bytes: &mut Vec<u8>) {
    while let rest @ 1.. = length >> LENGTH_BITS {
        bytes.push(low_bits(length) | LENGTH_GOES_ON);
        length = rest;
    }
    bytes.push(low_bits(length));
}

/// Takes a length from the beginning of `bytes`.
fn read_length(bytes: &mut &[u8]) -> usize {
    let mut length = 0;
    let mut shift = 0;
    while let Some(byte) = bytes.split_off_first() {
        length |= usize::from(byte & !LENGTH_GOES_ON) << shift;
        if byte & LENGTH_GOES_ON == 0 {
            break;
        }
        shift += LENGTH_BITS;
    }
    length
}

fn low_bits(length: u32) -> u8 {
    length.to_le_bytes()[0] & !LENGTH_GOES_ON
}

fn as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it was a text")
}

/// Returns the offset at which `text` ends now.
///
/// # Panics
///
/// If that is more than 4 GiB.
fn end_of(text: &str) -> u32 {
    u32::try_from(text.len()).expect("an object is smaller than that")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_not_found_in_a_value() {
        let pairs = Pairs::from_iter([("a", "bc"), ("b", "c"), ("", "")]);
        assert_eq!(pairs.get("a"), Some("bc"));
        assert_eq!(pairs.get("bc"), None);
        assert_eq!(pairs.get(""), Some(""));
        assert_eq!(&pairs["b"], "c");
        assert_eq!(format!("{pairs:?}"), r#"{"": "", "a": "bc", "b": "c"}"#);
    }

    #[test]
    fn values_may_be_long() {
        let long =
            [0, 1, 127, 128, 129, 16_383, 16_384, 3_000_000].map(|length| "x".repeat(length));
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let pairs: Pairs = names.into_iter().zip(&long).collect();
        assert!(
            pairs
                .iter()
                .eq(names.into_iter().zip(long.iter().map(String::as_str)))
        );
        assert_eq!(&pairs["h"], long[7]);
    }

    proptest! {
        #[test]
        fn they_are_an_ordered_map(given: Vec<(String, String)>) {
            let model: BTreeMap<String, String> = given.iter().cloned().collect();
            let pairs: Pairs = given.into_iter().collect();
            let actual: Vec<(&str, &str)> = pairs.iter().collect();
            let expected: Vec<(&str, &str)> = model.iter().map(|(name, value)| (&**name, &**value)).collect();
            prop_assert_eq!(actual, expected);
            prop_assert_eq!((pairs.len(), pairs.is_empty()), (model.len(), model.is_empty()));
            for (name, value) in &model {
                prop_assert_eq!(pairs.get(name), Some(value.as_str()));
            }
        }
    }
}
