//! The objects of one resource, now and at every revision that is not compacted.

use std::{collections::VecDeque, ops::Bound, sync::Arc};

use fakeserver_value::revision::Revision;
use imbl::OrdMap;
use tokio::time::Instant;

use super::{Change, ObjectKey, StoredObject, packer::Packer};

pub(super) type Objects = OrdMap<Arc<str>, Arc<StoredObject>>;

/// A state is kept after as many changes as there are objects, but at least this many. A state between two kept ones is
/// computed from the nearer one, which takes about a microsecond for each change. Tests use a smaller number to cover
/// every case.
const CHANGES_PER_STATE: usize = if cfg!(test) { 4 } else { 512 };
/// The number of the last changes that keep their frames and the replaced version unpacked. Watchers are seldom further
/// behind.
const RECENT: usize = if cfg!(test) { 8 } else { 1_024 };

/// The objects of one resource.
///
/// # Memory
///
/// The objects now; of each change what it replaced, compressed unless it is recent, and at most an entry of a persistent map.
#[derive(Clone, Debug)]
pub(super) struct Table {
    current: Objects,
    /// Some states, oldest first; never empty. The first one is the state before the first change that is kept.
    states: VecDeque<(Revision, Objects)>,
    /// The changes that are kept, oldest first.
    log: VecDeque<LoggedChange>,
    /// The number of bytes of their history.
    history_bytes: u64,
    /// The number of changes after the last state that is kept.
    since_state: usize,
    /// The last change that was forgotten.
    forgotten: Revision,
}

/// A change, with its size in the history.
#[derive(Clone, Debug)]
struct LoggedChange {
    change: Arc<Change>,
    bytes: u64,
}

/// The objects of a resource at a revision.
#[derive(Debug, Clone)]
pub struct Snapshot {
    objects: Objects,
}

/// Which keys of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// Every key.
    All,
    /// The keys of one namespace.
    Namespace(Arc<str>),
}

// === impl Table ===

impl Table {
    pub(super) fn new() -> Self {
        Self::restored(Objects::new())
    }

    /// Creates a table without history.
    pub(super) fn restored(objects: Objects) -> Self {
        Self {
            current: objects.clone(),
            states: VecDeque::from([(Revision::default(), objects)]),
            log: VecDeque::new(),
            history_bytes: 0,
            since_state: 0,
            forgotten: Revision::default(),
        }
    }

    /// Takes the next change of this resource, and returns the object that it replaced here. What is not recent any more is
    /// packed by `packer`.
    pub(super) fn apply(
        &mut self,
        change: Arc<Change>,
        packer: &Packer,
    ) -> Option<Arc<StoredObject>> {
        if self.since_state >= CHANGES_PER_STATE.max(self.current.len())
            && let Some(last) = self.log.back()
        {
            let made = Revision::new(last.change.revision());
            self.states.push_back((made, self.current.clone()));
            self.since_state = 0;
        }
        let replaced = redo(&mut self.current, &change);
        let bytes = change.history_bytes();
        self.history_bytes += bytes;
        self.log.push_back(LoggedChange { change, bytes });
        self.since_state += 1;
        // One change retires with each new one: the cost of compression is spread, and recent frames stay shared.
        if let Some(old) = self.log.len().checked_sub(RECENT + 1) {
            let old = &mut self.log[old];
            old.change.retire(packer);
            self.history_bytes -= old.bytes;
            old.bytes = old.change.history_bytes();
            self.history_bytes += old.bytes;
        }
        replaced
    }

    /// Marks every change up to `revision` as compacted. There must be none.
    pub(super) fn begin_at(&mut self, revision: Revision) {
        debug_assert!(self.log.is_empty(), "no change is known");
        self.forgotten = revision;
    }

    /// Forgets every change up to `revision`.
    pub(super) fn forget_changes(&mut self, revision: Revision) {
        while let Some(LoggedChange { change, bytes }) = self
            .log
            .pop_front_if(|logged| logged.change.revision() <= revision.get())
        {
            self.forgotten = Revision::new(change.revision());
            self.history_bytes -= bytes;
            let next = self.states.get(1);
            if next.is_some_and(|(made, _)| *made <= self.forgotten) {
                self.states.pop_front();
            } else if let Some((made, objects)) = self.states.front_mut() {
                *made = self.forgotten;
                redo(objects, &change);
            }
        }
        self.since_state = self.since_state.min(self.log.len());
    }

    /// Drops all changes after `revision`, whose state must be in the history.
    pub(super) fn roll_back(&mut self, revision: Revision) {
        self.current = self.state_at(revision);
        while self.states.len() > 1 && self.states.back().is_some_and(|(made, _)| *made > revision)
        {
            self.states.pop_back();
        }
        while let Some(LoggedChange { bytes, .. }) = self
            .log
            .pop_back_if(|logged| logged.change.revision() > revision.get())
        {
            self.history_bytes -= bytes;
        }
        let kept = self.states.back().map(|(made, _)| *made);
        self.since_state = self.log.len() - self.changes_until(kept.unwrap_or_default());
    }

    /// Returns the number of bytes of history.
    pub(super) fn history_bytes(&self) -> u64 {
        self.history_bytes
    }

    /// Returns the last change up to that time in the history.
    pub(super) fn revision_at(&self, then: Instant) -> Revision {
        let committed = |logged: &LoggedChange| logged.change.committed() <= then;
        match self.log.partition_point(committed).checked_sub(1) {
            Some(last) => Revision::new(self.log[last].change.revision()),
            None => self.forgotten,
        }
    }

    /// The last change that was forgotten: a watch from before it would have a gap.
    pub(super) fn forgotten(&self) -> Revision {
        self.forgotten
    }

    pub(super) fn oldest_change(&self) -> Option<&Arc<Change>> {
        self.log.front().map(|logged| &logged.change)
    }

    pub(super) fn get(&self, path: &str) -> Option<&Arc<StoredObject>> {
        self.current.get(path)
    }

    /// The present objects, those that come after a path.
    pub(super) fn objects_after(
        &self,
        path: Bound<&str>,
    ) -> impl Iterator<Item = &Arc<StoredObject>> + use<'_> {
        let objects = self.current.range::<_, str>((path, Bound::Unbounded));
        objects.map(|(_, object)| object)
    }

    /// The state now.
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            objects: self.current.clone(),
        }
    }

    /// The state at `revision`, which must not have been forgotten.
    pub(super) fn snapshot_at(&self, revision: Revision) -> Snapshot {
        Snapshot {
            objects: self.state_at(revision),
        }
    }

    /// The changes after `revision`, oldest first.
    pub(super) fn changes_since(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = &Arc<Change>> + use<'_> {
        let changes = self.log.range(self.changes_until(revision)..);
        changes.map(|logged| &logged.change)
    }

    /// Returns the number of kept changes up to `revision`.
    fn changes_until(&self, revision: Revision) -> usize {
        self.log
            .partition_point(|logged| logged.change.revision() <= revision.get())
    }

    /// The state at `revision`: the nearest one that was kept, and the changes between.
    fn state_at(&self, revision: Revision) -> Objects {
        let until = self.changes_until(revision);
        let next = self.states.partition_point(|(made, _)| *made <= revision);
        let (made, earlier) = &self.states[next.saturating_sub(1)];
        let (later, end) = match self.states.get(next) {
            Some((made, later)) => (later, self.changes_until(*made)),
            None => (&self.current, self.log.len()),
        };
        let start = self.changes_until(*made);
        // From the nearer of the two kept states: forwards from the earlier one, or backwards from the later one.
        if until - start < end - until {
            let mut objects = earlier.clone();
            for logged in self.log.range(start..until) {
                redo(&mut objects, &logged.change);
            }
            objects
        } else {
            let mut objects = later.clone();
            for logged in self.log.range(until..end).rev() {
                undo(&mut objects, &logged.change);
            }
            objects
        }
    }
}

/// Applies a change to `objects`, and returns the object before it.
fn redo(objects: &mut Objects, change: &Change) -> Option<Arc<StoredObject>> {
    set(objects, change.key(), change.after())
}

/// Makes `objects` what they were before a change, and returns what was there.
fn undo(objects: &mut Objects, change: &Change) -> Option<Arc<StoredObject>> {
    set(objects, change.key(), change.before())
}

fn set(
    objects: &mut Objects,
    key: &ObjectKey,
    object: Option<&Arc<StoredObject>>,
) -> Option<Arc<StoredObject>> {
    let path = key.path();
    match object {
        Some(object) => objects.insert(Arc::clone(path), Arc::clone(object)),
        None => objects.remove(&**path),
    }
}

// === impl Snapshot ===

impl Snapshot {
    /// A resource that nothing was ever written to.
    pub(super) fn empty() -> Self {
        Self {
            objects: Objects::new(),
        }
    }

    /// The object under this path.
    pub fn get(&self, path: &str) -> Option<&Arc<StoredObject>> {
        self.objects.get(path)
    }

    /// Returns whether both are the same state, or both are empty.
    pub fn is_same(&self, other: &Self) -> bool {
        let are_empty = self.objects.is_empty() && other.objects.is_empty();
        are_empty || self.objects.ptr_eq(&other.objects)
    }

    /// Returns the number of objects in constant time.
    pub fn count(&self) -> usize {
        self.objects.len()
    }

    /// The objects of `range` in the order of their paths, those from `start` on.
    pub fn objects<'a>(
        &'a self,
        range: &Range,
        start: Option<&str>,
    ) -> impl Iterator<Item = &'a Arc<StoredObject>> + use<'a> {
        let (first, end) = range.bounds();
        let from = match start {
            Some(start) if start > first.as_str() => start,
            _ => &first,
        };
        let to = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        // An empty interval is a legal question, but not to a map.
        let from = match &end {
            Some(end) if from > end.as_str() => end,
            _ => from,
        };
        self.objects
            .range::<_, str>((Bound::Included(from), to))
            .map(|(_, object)| object)
    }
}

// === impl Range ===

impl Range {
    /// The keys of `namespace`, or all.
    pub fn of(namespace: Option<&str>) -> Self {
        namespace.map_or(Self::All, |namespace| Self::Namespace(namespace.into()))
    }

    pub fn contains(&self, object: &StoredObject) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(namespace) => object.namespace() == Some(namespace),
        }
    }

    /// The part of a path that all keys of the range have in common.
    pub fn prefix(&self) -> String {
        match self {
            Self::All => String::new(),
            Self::Namespace(namespace) => format!("{namespace}/"),
        }
    }

    /// The first path of the range, and the first behind it.
    fn bounds(&self) -> (String, Option<String>) {
        match self {
            Self::All => (String::new(), None),
            // '0' is the character after '/'.
            Self::Namespace(namespace) => (format!("{namespace}/"), Some(format!("{namespace}0"))),
        }
    }
}
