//! Transactions: reads and writes that take effect together or not at all.

use std::{collections::BTreeMap, fmt, sync::Arc};

use fakeserver_kinds::conversion::to_stored;
use fakeserver_value::{object::Pairs, resource::GroupResource, revision::Revision};
use serde_json::Value;
use tokio::time::Instant;

use super::Stencil;
use super::{
    Change, ObjectKey, Range, StoredObject,
    base::{Base, Reads},
    packer::Packer,
};

/// A function that returns the selectable fields of an object of a resource.
pub(super) type SelectableFields = dyn Fn(&GroupResource, &Value) -> Pairs + Send + Sync;

/// A transaction: its own reads see its writes at once, all others see them after the commit.
pub struct Transaction<'a> {
    base: Base<'a>,
    fields: &'a SelectableFields,
    packer: Option<&'a Packer>,
    revision: Revision,
    written: BTreeMap<ObjectKey, Option<Arc<StoredObject>>>,
    changes: Vec<Change>,
}

// === impl Transaction ===

impl<'a> Transaction<'a> {
    pub(super) fn new(
        base: Base<'a>,
        fields: &'a SelectableFields,
        packer: Option<&'a Packer>,
    ) -> Self {
        Self {
            revision: base.revision(),
            base,
            fields,
            packer,
            written: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    /// Stores `object` under `key`. The object takes the next revision, which becomes its `metadata.resourceVersion`;
    /// its `kind` and `apiVersion` are left out. An object in another form of its kind is converted to the stored one. That
    /// of a custom object is the version in which it is stored; without one it stays in its present version.
    pub fn put(&mut self, key: &ObjectKey, object: Value) -> Arc<StoredObject> {
        let mut object = to_stored(object);
        if object.get("apiVersion").is_none()
            && let Some(before) = self.get(key)
            && !before.stored_version().is_empty()
        {
            object["apiVersion"] = before.stored_version().into();
        }
        let fields = (self.fields)(key.resource(), &object);
        let revision = self.revision.next();
        let after = StoredObject::new(key.clone(), revision, object, fields);
        self.store(key, after)
    }

    /// Does the same, and stores `text` for the value of one of the object's members, which has to be equal to that.
    pub fn put_with_text(
        &mut self,
        key: &ObjectKey,
        object: Value,
        (member, text): (&str, &str),
    ) -> Arc<StoredObject> {
        let fields = (self.fields)(key.resource(), &object);
        let revision = self.revision.next();
        let after = StoredObject::new(key.clone(), revision, object, fields);
        self.store(key, after.with_text(member, text))
    }

    /// Stores the object of `stencil` with `values`, as [`put`](Self::put) would.
    pub fn print(
        &mut self,
        key: &ObjectKey,
        stencil: &Stencil,
        values: &[&str],
    ) -> Arc<StoredObject> {
        let after = stencil.print(key.clone(), self.revision.next(), values);
        self.store(key, after)
    }

    /// Removes and returns the object of `key`, if it exists.
    pub fn delete(&mut self, key: &ObjectKey) -> Option<Arc<StoredObject>> {
        let before = self.get(key)?;
        self.write(key, None);
        Some(before)
    }

    /// Returns whether it is committed by a log outside of the process.
    pub fn is_logged(&self) -> bool {
        matches!(self.base, Base::Recorded(..))
    }

    /// The revision of the last write, this transaction's own included.
    pub fn revision(&self) -> u64 {
        // A transaction that knows the revision depends on every write.
        self.base.read_all();
        self.revision.get()
    }

    pub fn get(&self, key: &ObjectKey) -> Option<Arc<StoredObject>> {
        match self.written.get(key) {
            // Own writes first: a transaction sees what it has done.
            Some(written) => written.clone(),
            None => self.base.get(key),
        }
    }

    /// The objects of a resource, of one namespace or of all, in the order of their paths.
    pub fn list(
        &self,
        resource: &GroupResource,
        namespace: Option<&str>,
    ) -> Vec<Arc<StoredObject>> {
        let range = Range::of(namespace);
        let stored = self.base.snapshot(resource);
        let mut objects: BTreeMap<Arc<str>, Arc<StoredObject>> = stored
            .objects(&range, None)
            .map(|object| (Arc::clone(object.key().path()), Arc::clone(object)))
            .collect();
        for (key, written) in &self.written {
            match written {
                _ if key.resource() != resource => {}
                None => {
                    objects.remove(key.path());
                }
                Some(object) if range.contains(object) => {
                    objects.insert(Arc::clone(key.path()), Arc::clone(object));
                }
                Some(_) => {}
            }
        }
        objects.into_values().collect()
    }

    /// The objects of all resources in one namespace.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<StoredObject>> {
        let mut resources = self.base.resources();
        resources.extend(self.written.keys().map(|key| key.resource().clone()));
        resources.sort_unstable();
        resources.dedup();
        resources
            .iter()
            .flat_map(|resource| self.list(resource, Some(namespace)))
            .collect()
    }

    /// Returns its writes, and its reads of a store that others wrote to.
    pub(super) fn into_changes(self) -> (Vec<Change>, Reads) {
        (self.changes, self.base.into_reads())
    }

    /// Writes `after`, in as little memory as it takes.
    fn store(&mut self, key: &ObjectKey, after: StoredObject) -> Arc<StoredObject> {
        let after = match self.get(key) {
            // Most updates leave key, labels and uid unchanged.
            Some(before) => after.sharing(&before),
            None => after,
        };
        if let Some(packer) = self.packer {
            after.pack(packer);
        }
        let after = Arc::new(after);
        self.write(key, Some(Arc::clone(&after)));
        after
    }

    fn write(&mut self, key: &ObjectKey, after: Option<Arc<StoredObject>>) {
        let before = self.get(key);
        let revision = self.revision.next();
        if let Some(change) = Change::new(revision, before, after.clone(), Instant::now()) {
            self.revision = revision;
            self.written.insert(key.clone(), after);
            self.changes.push(change);
        }
    }
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("revision", &self.revision)
            .field("changes", &self.changes.len())
            .finish_non_exhaustive()
    }
}
