//! The index of owners and dependents, updated with each change.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_kinds::{Kind, core};

use super::meta::Meta;
use crate::{
    controllers::pods::Pods,
    store::{ObjectKey, StoredObject},
};

/// A change, with the parsed metadata of the object before and after it.
#[derive(Debug)]
pub struct ObjectChange<'a> {
    pub before: Option<(&'a Arc<StoredObject>, Meta)>,
    pub after: Option<(&'a Arc<StoredObject>, Meta)>,
}

/// The dependents of an owner in the order of their keys, and whether each blocks its deletion. Most owners have few.
type Dependents = Vec<(ObjectKey, bool)>;

/// Finds what an object owns.
///
/// # Memory
///
/// One entry for each reference to an owner, and one for each owner.
#[derive(Debug, Default)]
pub struct Index {
    /// Dependents by the uid of their owner, whether the owner exists or not.
    dependents: BTreeMap<Box<str>, Dependents>,
    /// Empty unless a controller uses pods.
    pub pods: Pods,
    tracks_pods: bool,
}

// === impl ObjectChange ===

impl<'a> ObjectChange<'a> {
    pub(super) fn new(
        before: Option<&'a Arc<StoredObject>>,
        after: Option<&'a Arc<StoredObject>>,
    ) -> Self {
        let with_meta = |object: &'a Arc<StoredObject>| (object, Meta::of(object));
        Self {
            before: before.map(with_meta),
            after: after.map(with_meta),
        }
    }

    /// The object that the change is about: the new one, or the last one.
    pub fn subject(&self) -> &'a Arc<StoredObject> {
        let (subject, _) = self
            .after
            .as_ref()
            .or(self.before.as_ref())
            .expect("a change has an object before or after it");
        subject
    }

    pub fn key(&self) -> &'a ObjectKey {
        self.subject().key()
    }

    /// Returns whether the changed object is of this kind.
    pub fn is_of(&self, kind: &Kind) -> bool {
        self.key().resource() == kind.storage()
    }
}

// === impl Index ===

impl Index {
    /// Enables the index of pods, for the controllers of workloads.
    pub(super) fn with_pods(mut self, is_asked: bool) -> Self {
        self.tracks_pods = is_asked;
        self
    }

    /// Takes a change in.
    pub(super) fn apply(&mut self, change: &ObjectChange<'_>) {
        if self.tracks_pods && change.is_of(&core::pod::KIND) {
            let after = change.after.as_ref();
            self.pods
                .apply(change.key(), after.map(|(pod, meta)| (*pod, meta)));
        }
        let owners = |side: &Option<(_, Meta)>| {
            side.as_ref()
                .map_or_else(Vec::new, |(_, meta): &(_, Meta)| meta.owners().to_vec())
        };
        let before = owners(&change.before);
        let after = owners(&change.after);
        if before == after {
            return;
        }
        let key = change.key();
        for owner in before {
            if let Some(dependents) = self.dependents.get_mut(&*owner.uid) {
                if let Ok(place) = place_of(key, dependents) {
                    dependents.remove(place);
                }
                if dependents.is_empty() {
                    self.dependents.remove(&*owner.uid);
                }
            }
        }
        for owner in after {
            let blocks = owner.blocks();
            let dependents = self.dependents.entry(owner.uid.into());
            let dependents = dependents.or_insert_with(|| Vec::with_capacity(1));
            match place_of(key, dependents) {
                Ok(place) => dependents[place].1 = blocks,
                Err(place) => dependents.insert(place, (key.clone(), blocks)),
            }
        }
    }

    /// The objects that name the owner of that uid, in the order of their keys, and whether they block its deletion.
    pub fn dependents(&self, uid: &str) -> impl Iterator<Item = (&ObjectKey, bool)> {
        let dependents = self.dependents.get(uid).into_iter().flatten();
        dependents.map(|(key, blocks)| (key, *blocks))
    }
}

/// Finds the place of a key among dependents.
fn place_of(key: &ObjectKey, dependents: &Dependents) -> Result<usize, usize> {
    dependents.binary_search_by(|(dependent, _)| dependent.cmp(key))
}
