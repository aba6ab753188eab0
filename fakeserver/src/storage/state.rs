//! The pure core of the store: tables, the revision, and what has been forgotten.

use std::{collections::BTreeMap, sync::Arc};

use tokio::time::Instant;

use super::{
    Change, Compaction, ObjectKey, StoredObject,
    key::GroupResource,
    table::{Objects, Range, Snapshot, Table},
};
use crate::revision::Revision;

/// All objects of all resources, with their history. It is read through a [`View`].
#[derive(Debug)]
pub(super) struct State {
    revision: Revision,
    tables: BTreeMap<GroupResource, Table>,
    /// Lists of older revisions are refused.
    compacted: Revision,
    /// Watches from older revisions are refused, whatever the tables still know.
    watchable: Revision,
    compaction: Compaction,
    history_bytes: u64,
    /// Where the store began, with what every cluster has.
    beginning: Revision,
}

/// Why a past state cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryError {
    /// It was forgotten.
    Compacted,
    /// It has not come yet; the store stands at `current`.
    Future {
        /// The present revision.
        current: Revision,
    },
}

/// A watch cannot start where it was asked to: changes after that were forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooOld {
    /// The oldest revision that a watch can start at.
    pub(crate) oldest: Revision,
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
            history_bytes: 0,
            beginning: Revision::default(),
        }
    }

    /// A store that stands at `revision` with `objects` in it. What led there is not known, and cannot be asked for.
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
        Self {
            revision,
            tables: tables
                .map(|(resource, objects)| (resource, Table::restored(objects)))
                .collect(),
            compacted: revision,
            watchable: revision,
            beginning: revision,
            ..Self::new(compaction)
        }
    }

    /// Takes a change, which must have the next revision.
    pub(super) fn apply(&mut self, change: Arc<Change>) {
        debug_assert_eq!(
            change.revision(),
            self.revision.next().get(),
            "every write takes the next revision"
        );
        self.revision = Revision::new(change.revision());
        self.history_bytes += change.history_bytes();
        self.tables
            .entry(change.resource().clone())
            .or_insert_with(Table::new)
            .apply(change);
    }

    /// Forgets what is too old or too much at `now`.
    pub(super) fn compact_due(&mut self, now: Instant) {
        let mut forgotten = Revision::default();
        if let Some(age) = self.compaction.age {
            for table in self.tables.values_mut() {
                while let Some(due) = table
                    .oldest_change()
                    .filter(|change| now.saturating_duration_since(change.committed) >= age)
                    .map(|change| Revision::new(change.revision()))
                {
                    self.history_bytes -= table.forget_changes(due);
                    forgotten = forgotten.max(due);
                }
            }
        }
        if let Some(limit) = self.compaction.bytes {
            while self.history_bytes > limit {
                let Some((oldest, table)) = self
                    .tables
                    .values_mut()
                    .filter_map(|table| Some((table.oldest_change()?.revision(), table)))
                    .min_by_key(|(revision, _)| *revision)
                else {
                    break;
                };
                let oldest = Revision::new(oldest);
                self.history_bytes -= table.forget_changes(oldest);
                forgotten = forgotten.max(oldest);
            }
        }
        if forgotten > self.compacted {
            self.compacted = forgotten;
        }
    }

    /// Forgets every past state; watches go on, and can start wherever they could.
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

    /// Goes back by so many revisions, at most to its beginning, or to the oldest state that is still known. No watch can
    /// start before that, and nobody knows what came after.
    pub(super) fn roll_back(&mut self, revisions: u64) {
        let then = self.revision.get().saturating_sub(revisions);
        let oldest = self.beginning.max(self.compacted);
        let then = Revision::new(then).max(oldest).min(self.revision);
        for table in self.tables.values_mut() {
            self.history_bytes -= table.roll_back(then);
        }
        self.revision = then;
        self.watchable = then;
    }
}

/// Reads a [`State`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a>(pub(super) &'a State);

// === impl View ===

impl<'a> View<'a> {
    /// The revision of the last write.
    pub(crate) fn revision(self) -> Revision {
        self.0.revision
    }

    pub(crate) fn get(self, key: &ObjectKey) -> Option<&'a Arc<StoredObject>> {
        self.0.tables.get(key.resource())?.get(key.path())
    }

    /// The resources that were ever written to.
    pub(crate) fn resources(self) -> impl Iterator<Item = &'a GroupResource> {
        self.0.tables.keys()
    }

    /// The objects of a resource as they are now.
    pub(crate) fn snapshot(self, resource: &GroupResource) -> Snapshot {
        self.0
            .tables
            .get(resource)
            .map_or_else(Snapshot::empty, Table::snapshot)
    }

    /// The revision itself, or where the store begins, if that is later.
    pub(crate) fn floored(self, revision: Revision) -> Revision {
        revision.max(self.0.beginning).min(self.0.revision)
    }

    /// Where the store stood then, as far as it is known.
    pub(crate) fn revision_at(self, then: Instant) -> Revision {
        let tables = self.0.tables.values();
        let last = tables.map(|table| table.revision_at(then)).max();
        self.floored(last.unwrap_or_default())
    }

    /// The objects of a resource as somebody knows them who sees up to `sees`, and the revision of that: the present state,
    /// if that is not said, or not known any more.
    pub(crate) fn snapshot_seen(
        self,
        resource: &GroupResource,
        sees: Option<Revision>,
    ) -> (Snapshot, Revision) {
        let past = sees.filter(|then| *then < self.0.revision);
        let past = past.and_then(|then| Some((self.snapshot_at(resource, then).ok()?, then)));
        past.unwrap_or_else(|| (self.snapshot(resource), self.0.revision))
    }

    /// The objects of a resource as they were at `revision`.
    pub(crate) fn snapshot_at(
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
    pub(crate) fn changes_since(
        self,
        resource: &GroupResource,
        range: &Range,
        revision: Revision,
    ) -> Result<Vec<Arc<Change>>, TooOld> {
        let table = self.0.tables.get(resource);
        let forgotten = table.map_or(Revision::default(), Table::forgotten);
        let oldest = forgotten.max(self.0.watchable);
        if revision < oldest {
            return Err(TooOld { oldest });
        }
        Ok(self.log(resource, range, revision))
    }

    /// The changes after `revision` that are still known, oldest first.
    pub(crate) fn log(
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

    /// The changes of all resources after `after` up to `up_to` that are still known, oldest first.
    pub(crate) fn log_of_all(self, after: Revision, up_to: Revision) -> Vec<Arc<Change>> {
        let mut changes: Vec<Arc<Change>> = self
            .resources()
            .flat_map(|resource| self.log(resource, &Range::All, after))
            .filter(|change| change.revision() <= up_to.get())
            .collect();
        changes.sort_unstable_by_key(|change| change.revision());
        changes
    }
}
