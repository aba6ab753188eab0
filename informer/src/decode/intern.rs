//! Texts and lists that many objects have in common, each held once.

use std::{collections::BTreeMap, hash::Hasher, sync::Arc};

use rustc_hash::FxHasher;

use crate::object::{Labels, OwnerReference};

/// The least number of entries at which the interner looks for entries without other holders.
const SWEEP_MIN: usize = 1024;

/// A table of shared values by their hash: namespaces, label sets and lists of owners are few, and objects are many.
///
/// Two that have the same hash are both held by those that need them; the later one is handed out from then on.
///
/// # Memory
///
/// An entry for each distinct one in use, and as many again that are not.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    texts: Shared<Arc<str>>,
    labels: Shared<Labels>,
    owners: Shared<Arc<[OwnerReference]>>,
}

/// The shared values of one kind.
#[derive(Debug)]
struct Shared<T> {
    values: BTreeMap<u64, T>,
    sweep_at: usize,
}

/// A value that can be shared.
trait Share: Clone {
    /// Returns whether the value has another holder.
    fn is_held(&self) -> bool;
}

// === impl Interner ===

impl Interner {
    pub(crate) fn text(&mut self, text: &str) -> Arc<str> {
        self.texts.text(text)
    }

    /// The labels of these keys and values, in any order.
    pub(crate) fn labels<'a>(
        &mut self,
        labels: &(impl Iterator<Item = (&'a str, &'a str)> + Clone),
    ) -> Labels {
        let hash = hash_of(|hasher| {
            for (key, value) in labels.clone() {
                write_texts(hasher, &[key, value]);
            }
        });
        let Self {
            texts,
            labels: values,
            ..
        } = self;
        // The server sends them sorted, as they are held; in another order they are rebuilt.
        values.get_or_insert(
            hash,
            |values| {
                let mut labels = labels.clone();
                let is_next = |(key, value)| labels.next().is_some_and(|next| next == (key, value));
                values.iter().all(is_next) && labels.next().is_none()
            },
            || {
                let labels = labels.clone();
                labels
                    .map(|(key, value)| (texts.text(key), texts.text(value)))
                    .collect()
            },
        )
    }

    pub(crate) fn owners(&mut self, owners: &[OwnerReference]) -> Arc<[OwnerReference]> {
        let hash = hash_of(|hasher| {
            for owner in owners {
                write_texts(hasher, &[&owner.kind, &owner.name, &owner.uid]);
            }
        });
        let is_same = |values: &Arc<[OwnerReference]>| **values == *owners;
        self.owners.get_or_insert(hash, is_same, || owners.into())
    }
}

// === impl Shared ===

impl<T: Share> Shared<T> {
    fn get_or_insert(
        &mut self,
        hash: u64,
        is_same: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> T {
        if let Some(values) = self.values.get(&hash)
            && is_same(values)
        {
            return values.clone();
        }
        let new = make();
        self.values.insert(hash, new.clone());
        if self.values.len() > self.sweep_at {
            self.values.retain(|_, values| values.is_held());
            self.sweep_at = SWEEP_MIN.max(self.values.len() * 2);
        }
        new
    }
}

impl Shared<Arc<str>> {
    fn text(&mut self, text: &str) -> Arc<str> {
        let hash = hash_of(|hasher| hasher.write(text.as_bytes()));
        self.get_or_insert(hash, |values| **values == *text, || text.into())
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self {
            values: BTreeMap::new(),
            sweep_at: SWEEP_MIN,
        }
    }
}

// === impl Share ===

impl<T: ?Sized> Share for Arc<T> {
    fn is_held(&self) -> bool {
        Arc::strong_count(self) > 1
    }
}

impl Share for Labels {
    fn is_held(&self) -> bool {
        self.is_shared()
    }
}

fn hash_of(write: impl FnOnce(&mut FxHasher)) -> u64 {
    let mut hasher = FxHasher::default();
    write(&mut hasher);
    hasher.finish()
}

fn write_texts(hasher: &mut FxHasher, texts: &[&str]) {
    for text in texts {
        hasher.write(text.as_bytes());
        hasher.write_usize(text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str) -> OwnerReference {
        OwnerReference {
            api_version: "apps/v1".into(),
            kind: "ReplicaSet".into(),
            name: name.into(),
            uid: "u".into(),
            is_controller: true,
        }
    }

    #[test]
    fn only_equal_values_are_shared() {
        let mut interner = Interner::default();
        assert!(Arc::ptr_eq(&interner.text("a"), &interner.text("a")));
        assert_eq!(&*interner.text("b"), "b");

        let first = interner.labels(&[("app", "x"), ("tier", "y")].into_iter());
        let again = interner.labels(&[("app", "x"), ("tier", "y")].into_iter());
        let moved = interner.labels(&[("app", "xt"), ("ier", "y")].into_iter());
        assert!(first.is_same(&again));
        assert!(!first.is_same(&moved));
        assert_eq!(moved.get("ier"), Some("y"));

        let owners = interner.owners(&[owner("a")]);
        assert!(Arc::ptr_eq(&owners, &interner.owners(&[owner("a")])));
        let mut other = owner("a");
        other.is_controller = false;
        assert_eq!(*interner.owners(std::slice::from_ref(&other)), [other]);
    }

    #[test]
    fn labels_out_of_order_are_sorted() {
        let mut interner = Interner::default();
        let unsorted = interner.labels(&[("z", "1"), ("a", "2")].into_iter());
        assert_eq!(
            unsorted.iter().collect::<Vec<_>>(),
            [("a", "2"), ("z", "1")]
        );
    }

    #[test]
    fn unused_strings_are_dropped_in_time() {
        let mut interner = Interner::default();
        let kept = interner.text("kept");
        for n in 0..10 * SWEEP_MIN {
            interner.text(&n.to_string());
        }
        assert!(interner.texts.values.len() <= SWEEP_MIN + 1);
        assert!(Arc::ptr_eq(&kept, &interner.text("kept")));
    }
}
