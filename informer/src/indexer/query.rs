//! Places in the order of keys and of index entries, named without allocating.

use std::cmp::Ordering;

use equivalent::{Comparable, Equivalent};

use super::index::Entry;
use crate::object::ObjectKey;

/// The key of these parts.
pub(super) struct KeyOf<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

/// Before all keys of this namespace, and after all keys of those before it.
pub(super) struct NamespaceStart<'a>(pub(super) &'a str);

/// After all keys of this namespace, and before all keys of those after it.
pub(super) struct NamespaceEnd<'a>(pub(super) &'a str);

/// Before all entries of this value, and after all entries of those before it.
pub(super) struct ValueStart<'a>(pub(super) &'a str);

/// After all entries of this value, and before all entries of those after it.
pub(super) struct ValueEnd<'a>(pub(super) &'a str);

// === impl KeyOf ===

impl Equivalent<ObjectKey> for KeyOf<'_> {
    fn equivalent(&self, key: &ObjectKey) -> bool {
        self.compare(key).is_eq()
    }
}

impl Comparable<ObjectKey> for KeyOf<'_> {
    fn compare(&self, key: &ObjectKey) -> Ordering {
        self.namespace
            .cmp(key.namespace())
            .then_with(|| self.name.cmp(key.name()))
    }
}

// === impl places between ===

/// Places that lie between the items: never equal to one.
macro_rules! place_between {
    ($place:ident, $item:ty, $part:expr, $side:expr $(, $parameter:ident)?) => {
        impl $(<$parameter>)? Equivalent<$item> for $place<'_> {
            fn equivalent(&self, _item: &$item) -> bool {
                false
            }
        }

        impl $(<$parameter>)? Comparable<$item> for $place<'_> {
            fn compare(&self, item: &$item) -> Ordering {
                let part: fn(&$item) -> &str = $part;
                self.0.cmp(part(item)).then($side)
            }
        }
    };
}

place_between!(
    NamespaceStart,
    ObjectKey,
    |key| key.namespace(),
    Ordering::Less
);
place_between!(
    NamespaceEnd,
    ObjectKey,
    |key| key.namespace(),
    Ordering::Greater
);
place_between!(
    ValueStart,
    Entry<K>,
    |entry| &entry.value,
    Ordering::Less,
    K
);
place_between!(
    ValueEnd,
    Entry<K>,
    |entry| &entry.value,
    Ordering::Greater,
    K
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::key;

    #[test]
    fn the_parts_of_a_key_equal_that_key_and_no_other() {
        let parts = KeyOf {
            namespace: "a",
            name: "x",
        };
        for (other, is_equal) in [("a/x", true), ("a/y", false), ("b/x", false), ("x", false)] {
            assert_eq!(parts.equivalent(&key(other)), is_equal, "{other}");
        }
    }
}
