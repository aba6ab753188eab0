//! The pure core of the store: tables, the revision, and the limits of history.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use fakeserver_value::{resource::GroupResource, revision::Revision};
use tokio::time::Instant;

use super::{
    Change, Compaction, ObjectKey, StoredObject,
    packer::Packer,
    table::{Objects, Range, Snapshot, Table},
};

/// The number of bytes of JSON that stay unpacked. Beyond that the objects are packed that were not written lately, and
/// take some microseconds more when they are read.
const PLAIN_BYTES_MAX: u64 = if cfg!(test) { 64 << 10 } else { 1 << 30 };
/// The number of the last revisions that count as recent.
const LATELY: u64 = if cfg!(test) { 16 } else { 1_024 };
/// The number of objects that each write examines for packing, while there are too many bytes.
const LOOKED_AT: usize = 32;

/// All objects of all resources, with their history. It is read through a [`View`].
#[derive(Clone, Debug)]
pub(super) struct State {
    revision: Revision,
    tables: BTreeMap<GroupResource, Table>,
    /// Lists of older revisions are refused.
    compacted: Revision,
    /// Watches from older revisions are refused, even if the tables still have them.
    watchable: Revision,
    compaction: Compaction,
    /// The revision after the bootstrap objects.
    beginning: Revision,
    /// The number of bytes of JSON that the present objects hold unpacked. Another store that has some of them too may
    /// have packed them since.
    plain_bytes: u64,
    /// The object up to which was looked for some to be packed: its resource and its path.
    looked_up_to: Option<(GroupResource, Arc<str>)>,
}

/// The reason why a past state cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryError {
    /// The revision was compacted.
    Compacted,
    /// The revision is in the future; the store is at `current`.
    Future {
        /// The present revision.
        current: Revision,
    },
}

/// A watch cannot start at the requested revision: later changes were compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionTooOld {
    /// The oldest revision that a watch can start at.
    pub oldest: Revision,
}

// === impl State ===

impl State {
    pub(super) fn new(compaction: Compaction) -> Self {
        Self {
            revision: Revision::FIRST,
            tables: BTreeMap::new(),
            compacted: Revision::default(),
            watchable: Revision::default(),
            compaction,
            beginning: Revision::default(),
            plain_bytes: 0,
            looked_up_to: None,
        }
    }

    /// Creates a state at `revision` with `objects`, without history.
    pub(super) fn restored(
        compaction: Compaction,
        revision: Revision,
        objects: Vec<Arc<StoredObject>>,
    ) -> Self {
        let mut by_resource: BTreeMap<GroupResource, Objects> = BTreeMap::new();
        for object in objects {
            debug_assert!(object.revision() <= revision.get(), "no object is ahead");
            let of_resource = by_resource.entry(object.resource().clone()).or_default();
            of_resource.insert(Arc::clone(object.key().path()), object);
        }
        let tables = by_resource.into_iter();
        let mut restored = Self {
            revision,
            tables: tables
                .map(|(resource, objects)| (resource, Table::restored(objects)))
                .collect(),
            compacted: revision,
            watchable: revision,
            beginning: revision,
            ..Self::new(compaction)
        };
        restored.plain_bytes = restored.count_plain_bytes();
        restored
    }

    /// Returns a copy of the state for another store. Watches can start at any revision there, except those of
    /// resources that already have objects: they start at this state's revision or later.
    pub(super) fn fork(&self, compaction: Compaction) -> Self {
        let mut founded = self.clone();
        founded.compaction = compaction;
        founded.watchable = Revision::default();
        for table in founded.tables.values_mut() {
            table.begin_at(self.revision);
        }
        founded
    }

    /// Takes a change, which must have the next revision. What became history some time ago is packed by `packer`.
    pub(super) fn apply(&mut self, change: Arc<Change>, packer: &Packer) {
        debug_assert_eq!(
            change.revision(),
            self.revision.next().get(),
            "every write takes the next revision"
        );
        self.take(change, packer);
    }

    /// Takes a change of a log that this store has in common with others: revisions of other keys lie between, and several keys
    /// can be deleted at one.
    pub(super) fn take(&mut self, change: Arc<Change>, packer: &Packer) {
        debug_assert!(
            change.revision() >= self.revision.get(),
            "changes come in order"
        );
        self.revision = Revision::new(change.revision());
        let plain_bytes =
            |side: Option<&Arc<StoredObject>>| side.map_or(0, |object| object.plain_bytes()) as u64;
        self.plain_bytes += plain_bytes(change.after());
        let table = self.tables.entry(change.resource().clone());
        let replaced = table.or_insert_with(Table::new).apply(change, packer);
        self.plain_bytes -= plain_bytes(replaced.as_ref());
        if self.plain_bytes > PLAIN_BYTES_MAX {
            self.pack_some(packer);
        }
    }

    /// Stands at `revision`, up to which no further change comes.
    pub(super) fn advance(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
    }

    /// Forgets all states before `revision`, and the changes up to it.
    pub(super) fn compact_to(&mut self, revision: Revision) {
        let revision = revision.min(self.revision);
        for table in self.tables.values_mut() {
            table.forget_changes(revision);
        }
        self.compacted = self.compacted.max(revision);
        self.watchable = self.watchable.max(revision);
    }

    /// Packs some of the present objects, of those that come next in the order of resources and paths, until they are few
    /// enough bytes.
    fn pack_some(&mut self, packer: &Packer) {
        let looked_up_to = self.looked_up_to.take();
        let (resource, path) = match &looked_up_to {
            Some((resource, path)) => (Bound::Included(resource), Bound::Excluded(&**path)),
            None => (Bound::Unbounded, Bound::Unbounded),
        };
        let mut tables = self.tables.range((resource, Bound::Unbounded));
        let first = tables.next().map(|(_, table)| table.objects_after(path));
        let others = tables.flat_map(|(_, table)| table.objects_after(Bound::Unbounded));
        let mut last = None;
        for object in first.into_iter().flatten().chain(others).take(LOOKED_AT) {
            if object.revision() + LATELY <= self.revision.get() {
                self.plain_bytes -= object.pack(packer) as u64;
            }
            last = Some(object.key());
            if self.plain_bytes <= PLAIN_BYTES_MAX {
                break;
            }
        }
        self.looked_up_to = last.map(|key| (key.resource().clone(), Arc::clone(key.path())));
    }

    fn count_plain_bytes(&self) -> u64 {
        let tables = self.tables.values();
        let objects = tables.flat_map(|table| table.objects_after(Bound::Unbounded));
        objects.map(|object| object.plain_bytes() as u64).sum()
    }

    /// Forgets what is too old or too much at `now`.
    pub(super) fn compact_due(&mut self, now: Instant) {
        let mut forgotten = Revision::default();
        if let Some(age) = self.compaction.age {
            for table in self.tables.values_mut() {
                while let Some(due) = table
                    .oldest_change()
                    .filter(|change| now.saturating_duration_since(change.committed()) >= age)
                    .map(|change| Revision::new(change.revision()))
                {
                    table.forget_changes(due);
                    forgotten = forgotten.max(due);
                }
            }
        }
        if let Some(limit) = self.compaction.bytes {
            while self.history_bytes() > limit {
                let Some((oldest, table)) = self
                    .tables
                    .values_mut()
                    .filter_map(|table| Some((table.oldest_change()?.revision(), table)))
                    .min_by_key(|(revision, _)| *revision)
                else {
                    break;
                };
                let oldest = Revision::new(oldest);
                table.forget_changes(oldest);
                forgotten = forgotten.max(oldest);
            }
        }
        if forgotten > self.compacted {
            self.compacted = forgotten;
        }
    }

    fn history_bytes(&self) -> u64 {
        self.tables.values().map(Table::history_bytes).sum()
    }

    /// Compacts every past state. Watches continue, and can still start at the same revisions.
    pub(super) fn compact(&mut self) {
        self.compacted = self.revision;
    }

    /// Forgets every past state, and lets no watch start before now.
    ///
    /// The changes themselves stay until age or size end them, so that an oracle can still read them.
    pub(super) fn expire(&mut self) {
        self.watchable = self.revision;
        self.compacted = self.revision;
    }

    /// Has its beginning here: it never goes back further.
    pub(super) fn begin_here(&mut self) {
        self.beginning = self.revision;
    }

    /// Rolls back by `revisions`, at most to the beginning, or to the oldest state in the history. No watch can start
    /// before that, and later changes are dropped.
    pub(super) fn roll_back(&mut self, revisions: u64) {
        let then = self.revision.get().saturating_sub(revisions);
        // Not before the beginning: the bootstrap objects of a cluster are never rolled back. Not before the
        // compaction: the state of then is gone.
        let oldest = self.beginning.max(self.compacted);
        let then = Revision::new(then).max(oldest).min(self.revision);
        for table in self.tables.values_mut() {
            table.roll_back(then);
        }
        self.revision = then;
        // As after a restore from a backup: the watch cache of the new process begins here.
        self.watchable = then;
        self.plain_bytes = self.count_plain_bytes();
    }
}

/// Reads a `State`.
#[derive(Debug, Clone, Copy)]
pub struct View<'a>(pub(super) &'a State);

// === impl View ===

impl<'a> View<'a> {
    /// The revision of the last write.
    pub fn revision(self) -> Revision {
        self.0.revision
    }

    pub fn get(self, key: &ObjectKey) -> Option<&'a Arc<StoredObject>> {
        self.0.tables.get(key.resource())?.get(key.path())
    }

    /// The resources that were ever written to.
    pub fn resources(self) -> impl Iterator<Item = &'a GroupResource> {
        self.0.tables.keys()
    }

    /// Returns the current objects of a resource.
    pub fn snapshot(self, resource: &GroupResource) -> Snapshot {
        self.0
            .tables
            .get(resource)
            .map_or_else(Snapshot::empty, Table::snapshot)
    }

    /// The revision itself, or where the store begins, if that is later.
    pub fn floored(self, revision: Revision) -> Revision {
        revision.max(self.0.beginning).min(self.0.revision)
    }

    /// Returns the revision of the store at that time, or the oldest one in the history.
    pub fn revision_at(self, then: Instant) -> Revision {
        let tables = self.0.tables.values();
        let last = tables.map(|table| table.revision_at(then)).max();
        self.floored(last.unwrap_or_default())
    }

    /// Returns the objects of a resource at revision `sees`, with that revision. Returns the present state if `sees` is
    /// absent or compacted.
    pub fn snapshot_seen(
        self,
        resource: &GroupResource,
        sees: Option<Revision>,
    ) -> (Snapshot, Revision) {
        let past = sees.filter(|then| *then < self.0.revision);
        let past = past.and_then(|then| Some((self.snapshot_at(resource, then).ok()?, then)));
        past.unwrap_or_else(|| (self.snapshot(resource), self.0.revision))
    }

    /// Returns the objects of a resource at `revision`.
    pub fn snapshot_at(
        self,
        resource: &GroupResource,
        revision: Revision,
    ) -> Result<Snapshot, HistoryError> {
        if revision > self.0.revision {
            return Err(HistoryError::Future {
                current: self.0.revision,
            });
        }
        if revision < self.0.compacted {
            return Err(HistoryError::Compacted);
        }
        Ok(self
            .0
            .tables
            .get(resource)
            .map_or_else(Snapshot::empty, |table| table.snapshot_at(revision)))
    }

    /// Every change of `range` after `revision`, oldest first; or that some of them were forgotten.
    pub fn changes_since(
        self,
        resource: &GroupResource,
        range: &Range,
        revision: Revision,
    ) -> Result<Vec<Arc<Change>>, RevisionTooOld> {
        let table = self.0.tables.get(resource);
        let forgotten = table.map_or(Revision::default(), Table::forgotten);
        // An explicit `compact` moves neither: in a real server, the watch cache outlives a compaction of etcd.
        let oldest = forgotten.max(self.0.watchable);
        if revision < oldest {
            return Err(RevisionTooOld { oldest });
        }
        Ok(self.log(resource, range, revision))
    }

    /// Returns the changes after `revision` in the history, oldest first.
    pub fn log(
        self,
        resource: &GroupResource,
        range: &Range,
        revision: Revision,
    ) -> Vec<Arc<Change>> {
        self.0.tables.get(resource).map_or_else(Vec::new, |table| {
            table
                .changes_since(revision)
                .filter(|change| range.contains(change.subject()))
                .map(Arc::clone)
                .collect()
        })
    }

    /// Returns the changes of all resources after `after` up to `up_to` in the history, oldest first.
    pub fn log_of_all(self, after: Revision, up_to: Revision) -> Vec<Arc<Change>> {
        let mut changes: Vec<Arc<Change>> = self
            .resources()
            .flat_map(|resource| self.log(resource, &Range::All, after))
            .filter(|change| change.revision() <= up_to.get())
            .collect();
        changes.sort_unstable_by_key(|change| change.revision());
        changes
    }
}
