//! The reads of a transaction: from the locked store, or from a snapshot while others write.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use fakeserver_value::{resource::GroupResource, revision::Revision};

use super::{ObjectKey, Snapshot, Storage, StoredObject, View};

/// The state that a transaction reads.
pub(super) enum Base<'a> {
    /// Exclusive: no other transaction writes meanwhile.
    Locked(View<'a>),
    /// Locked while the transaction runs, but not until it is committed: the log confirms the reads.
    Recorded(View<'a>, RefCell<BTreeMap<ObjectKey, Revision>>),
    /// Others write meanwhile, so the reads have to be confirmed before anything is written.
    Optimistic(OptimisticReads<'a>),
}

/// The reads of a transaction that does not lock the store. Each is of the store's state at its time.
pub(super) struct OptimisticReads<'a> {
    storage: &'a Storage,
    revision: Revision,
    reads: RefCell<Reads>,
}

/// Everything that was read. A repeated read returns the first result.
#[derive(Debug, Default)]
pub(super) struct Reads {
    objects: BTreeMap<ObjectKey, Option<Arc<StoredObject>>>,
    tables: BTreeMap<GroupResource, Snapshot>,
    /// The revision of the whole store, if that was read.
    revision: Option<Revision>,
    /// The revisions of the objects that were read for a log, 0 of those that are missing.
    recorded: BTreeMap<ObjectKey, Revision>,
}

// === impl Base ===

impl<'a> Base<'a> {
    /// Creates a base whose reads of single objects become conditions of a log. Lists do not: two servers can both find room in a
    /// quota.
    pub(super) fn recorded(view: View<'a>) -> Self {
        Self::Recorded(view, RefCell::default())
    }
}

impl Base<'_> {
    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<StoredObject>> {
        match self {
            Self::Locked(view) => view.get(key).cloned(),
            Self::Recorded(view, recorded) => {
                let found = view.get(key);
                let revision = found.map_or(0, |object| object.revision());
                let mut recorded = recorded.borrow_mut();
                recorded.insert(key.clone(), Revision::new(revision));
                found.cloned()
            }
            Self::Optimistic(reads) => reads.get(key),
        }
    }

    pub(super) fn snapshot(&self, resource: &GroupResource) -> Snapshot {
        match self {
            Self::Locked(view) | Self::Recorded(view, _) => view.snapshot(resource),
            Self::Optimistic(reads) => reads.snapshot(resource),
        }
    }

    /// The resources that were ever written to.
    pub(super) fn resources(&self) -> Vec<GroupResource> {
        self.read_all();
        let resources = |view: View<'_>| view.resources().cloned().collect();
        match self {
            Self::Locked(view) | Self::Recorded(view, _) => resources(*view),
            Self::Optimistic(reads) => reads.storage.peek(resources),
        }
    }

    /// Returns the revision of the store at the beginning of the transaction.
    pub(super) fn revision(&self) -> Revision {
        match self {
            Self::Locked(view) | Self::Recorded(view, _) => view.revision(),
            Self::Optimistic(reads) => reads.revision,
        }
    }

    /// Makes any concurrent write a conflict.
    pub(super) fn read_all(&self) {
        if let Self::Optimistic(reads) = self {
            reads.reads.borrow_mut().revision = Some(reads.revision);
        }
    }

    /// Returns the reads that have to be confirmed.
    pub(super) fn into_reads(self) -> Reads {
        match self {
            Self::Locked(_) => Reads::default(),
            Self::Recorded(_, recorded) => Reads {
                recorded: recorded.into_inner(),
                ..Reads::default()
            },
            Self::Optimistic(reads) => reads.reads.into_inner(),
        }
    }
}

// === impl OptimisticReads ===

impl<'a> OptimisticReads<'a> {
    pub(super) fn new(storage: &'a Storage) -> Self {
        Self {
            storage,
            revision: storage.revision(),
            reads: RefCell::default(),
        }
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<StoredObject>> {
        let mut reads = self.reads.borrow_mut();
        // Repeatable reads: a transaction that sees two states of an object could not be explained by any order of
        // writes.
        if let Some(earlier) = reads.objects.get(key) {
            return earlier.clone();
        }
        let found = self.storage.peek(|view| view.get(key).cloned());
        reads.objects.insert(key.clone(), found.clone());
        found
    }

    fn snapshot(&self, resource: &GroupResource) -> Snapshot {
        let mut reads = self.reads.borrow_mut();
        if let Some(earlier) = reads.tables.get(resource) {
            return earlier.clone();
        }
        let found = self.storage.peek(|view| view.snapshot(resource));
        reads.tables.insert(resource.clone(), found.clone());
        found
    }
}

// === impl Reads ===

impl Reads {
    /// Returns the revisions that a log has to confirm.
    pub(super) fn into_conditions(self) -> BTreeMap<ObjectKey, Revision> {
        self.recorded
    }

    /// Returns whether all reads would give the same again.
    pub(super) fn hold(&self, view: View<'_>) -> bool {
        let is_object =
            |(key, read): (&ObjectKey, &Option<Arc<StoredObject>>)| match (read, view.get(key)) {
                // By identity: each write makes a new version, even one with an equal value.
                (Some(read), Some(found)) => Arc::ptr_eq(read, found),
                (read, found) => read.is_none() && found.is_none(),
            };
        let is_table =
            |(resource, read): (&GroupResource, &Snapshot)| view.snapshot(resource).is_same(read);
        self.revision.is_none_or(|read| read == view.revision())
            && self.objects.iter().all(is_object)
            && self.tables.iter().all(is_table)
    }
}
