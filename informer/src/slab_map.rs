//! An ordered map whose tree does not depend on the type of its values.

use std::collections::BTreeMap;

/// A map in order of its keys.
///
/// The tree has positions in a vector of the values: so it is compiled once for each type of keys, and not again for each type
/// of objects that a program watches.
pub(crate) struct SlabMap<Q, V> {
    positions: BTreeMap<Q, usize>,
    values: Vec<Option<V>>,
    /// The positions without a value.
    free: Vec<usize>,
}

// === impl SlabMap ===

impl<Q: Ord, V> SlabMap<Q, V> {
    pub(crate) fn new() -> Self {
        Self {
            positions: BTreeMap::new(),
            values: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Puts `value` under `key`, in place of the one that was there.
    pub(crate) fn insert(&mut self, key: Q, value: V) {
        let free = self.free.pop();
        let position = free.unwrap_or(self.values.len());
        if let Some(replaced) = self.positions.insert(key, position) {
            self.release(replaced);
        }
        if free.is_some() {
            self.values[position] = Some(value);
        } else {
            self.values.push(Some(value));
        }
    }

    pub(crate) fn get_mut(&mut self, key: &Q) -> Option<&mut V> {
        let position = *self.positions.get(key)?;
        self.values[position].as_mut()
    }

    pub(crate) fn remove(&mut self, key: &Q) -> Option<V> {
        let position = self.positions.remove(key)?;
        self.release(position)
    }

    /// Removes the first key.
    pub(crate) fn pop_first(&mut self) -> Option<(Q, V)> {
        let (key, position) = self.positions.pop_first()?;
        let value = self.release(position)?;
        Some((key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns the values in order of their keys.
    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        let (positions, mut values) = (self.positions, self.values);
        positions
            .into_values()
            .filter_map(move |position| values[position].take())
    }

    fn release(&mut self, position: usize) -> Option<V> {
        self.free.push(position);
        self.values[position].take()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::SlabMap;

    proptest! {
        #[test]
        fn a_slab_map_equals_a_map_and_reuses_positions(
            steps in prop::collection::vec((0..4_u8, 0..6_u8, any::<u8>()), 0..60),
        ) {
            let (mut map, mut model) = (SlabMap::new(), BTreeMap::new());
            for (step, key, value) in steps {
                match step {
                    0 | 1 => {
                        map.insert(key, value);
                        model.insert(key, value);
                    }
                    2 => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                    _ => prop_assert_eq!(map.pop_first(), model.pop_first()),
                }
                prop_assert_eq!(map.len(), model.len());
                prop_assert_eq!(map.get_mut(&key), model.get_mut(&key));
                prop_assert!(map.values.len() <= 7);
            }
            prop_assert!(map.into_values().eq(model.into_values()));
        }
    }
}
