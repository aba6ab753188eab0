//! Labels, and what field selectors may ask for: names and values in one piece of memory.

use std::{collections::BTreeMap, fmt, iter::FusedIterator, ops::Index};

/// Names with a value each, in the order of the names, byte for byte.
///
/// # Memory
///
/// The text, and eight bytes for each name: a store holds two of them for each of its objects.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Each name, with its value behind it.
    text: Box<str>,
    /// Where each name and each value ends.
    ends: Box<[u32]>,
}

/// The [`Pairs`] one by one.
#[derive(Clone, Debug)]
pub struct PairsIter<'a> {
    pairs: &'a Pairs,
    next: usize,
}

// === impl Pairs ===

impl Pairs {
    /// The pairs of a text, in which every name and every value ends at the next one of `ends`.
    pub(crate) fn from_parts(text: Box<str>, ends: Box<[u32]>) -> Self {
        debug_assert_eq!(ends.len() % 2, 0, "a name has a value");
        Self { text, ends }
    }

    /// The text of all names and values, and where each of them ends.
    pub(crate) fn parts(&self) -> (&str, &[u32]) {
        (&self.text, &self.ends)
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        // A handful at most.
        let found = self.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value)
    }

    /// The names and their values, in the order of the names.
    pub fn iter(&self) -> PairsIter<'_> {
        PairsIter {
            pairs: self,
            next: 0,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len() / 2
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What ends at the place of that number.
    fn part(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start as usize..end])
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Pairs {
    /// Of pairs with the same name the last one counts.
    ///
    /// # Panics
    ///
    /// If it is more than 4 GiB of text.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let sorted: BTreeMap<String, String> = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let mut text = String::new();
        let mut ends = Vec::with_capacity(2 * sorted.len());
        for part in sorted.iter().flat_map(|(name, value)| [name, value]) {
            text.push_str(part);
            ends.push(u32::try_from(text.len()).expect("an object is smaller than that"));
        }
        Self::from_parts(text.into(), ends.into())
    }
}

impl Index<&str> for Pairs {
    type Output = str;

    /// The value of `name`.
    ///
    /// # Panics
    ///
    /// If there is none.
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
        let name = self.pairs.part(self.next)?;
        let value = self.pairs.part(self.next + 1)?;
        self.next += 2;
        Some((name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.pairs.len() - self.next / 2;
        (left, Some(left))
    }
}

impl ExactSizeIterator for PairsIter<'_> {}

impl FusedIterator for PairsIter<'_> {}

#[cfg(test)]
mod tests {
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

    proptest! {
        #[test]
        fn they_are_an_ordered_map(given: Vec<(String, String)>) {
            let model: BTreeMap<String, String> = given.iter().cloned().collect();
            let pairs: Pairs = given.into_iter().collect();
            let shown: Vec<(&str, &str)> = pairs.iter().collect();
            let expected: Vec<(&str, &str)> = model.iter().map(|(name, value)| (&**name, &**value)).collect();
            prop_assert_eq!(shown, expected);
            prop_assert_eq!((pairs.len(), pairs.is_empty()), (model.len(), model.is_empty()));
            for (name, value) in &model {
                prop_assert_eq!(pairs.get(name), Some(value.as_str()));
            }
        }
    }
}
