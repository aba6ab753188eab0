//! A new state while it comes in: held back until it is whole.

use crate::{
    list_watch::ArrivedObject,
    object::{ObjectKey, ResourceVersion},
    slab_map::SlabMap,
    store::Replacement,
};

/// The received part of a list or a streaming list.
///
/// # Memory
///
/// Holds the new state; with known objects shared, as much as changed.
pub(super) struct Staging<K> {
    listed: Vec<ArrivedObject<K>>,
    /// By key, since the initial events of a stream may also change and delete.
    streamed: SlabMap<ObjectKey, ArrivedObject<K>>,
}

// === impl Staging ===

impl<K> Staging<K> {
    pub(super) fn new() -> Self {
        Self {
            listed: Vec::new(),
            streamed: SlabMap::new(),
        }
    }

    /// Takes the items of a page.
    pub(super) fn extend(&mut self, items: Vec<ArrivedObject<K>>) {
        if self.listed.is_empty() {
            self.listed = items;
        } else {
            self.listed.extend(items);
        }
    }

    /// Takes an object that was added or modified.
    pub(super) fn put(&mut self, arrived: ArrivedObject<K>) {
        self.streamed.insert(key_of(&arrived).clone(), arrived);
    }

    /// Takes out an object that was deleted.
    pub(super) fn remove(&mut self, arrived: &ArrivedObject<K>) {
        self.streamed.remove(key_of(arrived));
    }

    pub(super) fn discard(&mut self) {
        *self = Self::new();
    }

    /// Gives the whole state, and is empty again.
    pub(super) fn take(
        &mut self,
        version: ResourceVersion,
        is_authoritative: bool,
    ) -> Replacement<K> {
        let Self { listed, streamed } = std::mem::replace(self, Self::new());
        let mut replacement =
            Replacement::new(Vec::with_capacity(listed.len() + streamed.len()), version);
        replacement.is_authoritative = is_authoritative;
        for arrived in listed.into_iter().chain(streamed.into_values()) {
            match arrived {
                Ok(object) => replacement.objects.push(object),
                Err(error) => replacement.undecodable.push(error),
            }
        }
        replacement
    }
}

fn key_of<K>(arrived: &ArrivedObject<K>) -> &ObjectKey {
    match arrived {
        Ok(object) => object.key(),
        Err(error) => &error.key,
    }
}
