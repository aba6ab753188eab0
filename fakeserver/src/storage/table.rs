//! The objects of one resource, now and at every revision that is not forgotten.

use std::{collections::VecDeque, ops::Bound, sync::Arc};

use imbl::OrdMap;
use tokio::time::Instant;

use super::{Change, StoredObject};
use crate::revision::Revision;

pub(super) type Objects = OrdMap<Arc<str>, Arc<StoredObject>>;

/// After so many changes a state is kept. What was between is found by making those changes again, which takes less than a
/// millisecond. Tests come by every case with fewer.
const CHANGES_PER_STATE: usize = if cfg!(test) { 4 } else { 512 };
/// How many of the last changes keep the frames that were made of them. Watchers are seldom further behind.
const FRAMES_KEPT: usize = 1_024;

/// The objects of one resource.
///
/// # Memory
///
/// The objects now; of each change what it replaced, and a small part of a copied path of a persistent map.
#[derive(Debug)]
pub(super) struct Table {
    current: Objects,
    /// Some states, oldest first; never empty. The first one is the state before the first change that is kept.
    states: VecDeque<(Revision, Objects)>,
    /// The changes that are kept, oldest first.
    log: VecDeque<Arc<Change>>,
    /// The last change that was forgotten.
    forgotten: Revision,
}

/// The objects of one resource as they were at one revision.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    objects: Objects,
}

/// Which keys of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Range {
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

    /// The objects of a resource whose changes are not known.
    pub(super) fn restored(objects: Objects) -> Self {
        Self {
            current: objects.clone(),
            states: VecDeque::from([(Revision::default(), objects)]),
            log: VecDeque::new(),
            forgotten: Revision::default(),
        }
    }

    /// Takes the next change of this resource.
    pub(super) fn apply(&mut self, change: Arc<Change>) {
        if self.log.len() >= CHANGES_PER_STATE * self.states.len()
            && let Some(last) = self.log.back()
        {
            let made = Revision::new(last.revision());
            self.states.push_back((made, self.current.clone()));
        }
        make(&mut self.current, &change);
        self.log.push_back(change);
        if let Some(old) = self.log.len().checked_sub(FRAMES_KEPT + 1) {
            self.log[old].forget_frames();
        }
    }

    /// Forgets every change up to `revision`, and returns how many bytes of history they were.
    pub(super) fn forget_changes(&mut self, revision: Revision) -> u64 {
        let mut bytes = 0;
        while let Some(change) = self
            .log
            .pop_front_if(|change| change.revision() <= revision.get())
        {
            self.forgotten = Revision::new(change.revision());
            bytes += change.history_bytes();
            let next = self.states.get(1);
            if next.is_some_and(|(made, _)| *made <= self.forgotten) {
                self.states.pop_front();
            } else if let Some((made, objects)) = self.states.front_mut() {
                *made = self.forgotten;
                make(objects, &change);
            }
        }
        bytes
    }

    /// Forgets everything after `revision`, and returns how many bytes of history it was. The state of then is known.
    pub(super) fn roll_back(&mut self, revision: Revision) -> u64 {
        self.current = self.state_at(revision);
        while self.states.len() > 1 && self.states.back().is_some_and(|(made, _)| *made > revision)
        {
            self.states.pop_back();
        }
        let mut bytes = 0;
        while let Some(change) = self
            .log
            .pop_back_if(|change| change.revision() > revision.get())
        {
            bytes += change.history_bytes();
        }
        bytes
    }

    /// The last change that was made by then, as far as changes are known.
    pub(super) fn revision_at(&self, then: Instant) -> Revision {
        let after = self.log.partition_point(|change| change.committed <= then);
        match after.checked_sub(1) {
            Some(last) => Revision::new(self.log[last].revision()),
            None => self.forgotten,
        }
    }

    /// The last change that was forgotten: a watch from before it would have a gap.
    pub(super) fn forgotten(&self) -> Revision {
        self.forgotten
    }

    pub(super) fn oldest_change(&self) -> Option<&Arc<Change>> {
        self.log.front()
    }

    pub(super) fn get(&self, path: &str) -> Option<&Arc<StoredObject>> {
        self.current.get(path)
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
        let start = self
            .log
            .partition_point(|change| change.revision() <= revision.get());
        self.log.range(start..)
    }

    /// The state at `revision`: the last one that was kept, and the changes since.
    fn state_at(&self, revision: Revision) -> Objects {
        let last = self.log.back();
        if last.is_none_or(|last| last.revision() <= revision.get()) {
            return self.current.clone();
        }
        let after = self.states.partition_point(|(made, _)| *made <= revision);
        let (made, objects) = &self.states[after.saturating_sub(1)];
        let mut objects = objects.clone();
        let changes = self.changes_since(*made);
        for change in changes.take_while(|change| change.revision() <= revision.get()) {
            make(&mut objects, change);
        }
        objects
    }
}

/// Does to `objects` what a change did.
fn make(objects: &mut Objects, change: &Change) {
    let path = change.key().path();
    match change.after() {
        Some(after) => {
            objects.insert(Arc::clone(path), Arc::clone(after));
        }
        None => {
            objects.remove(&**path);
        }
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
    pub(crate) fn get(&self, path: &str) -> Option<&Arc<StoredObject>> {
        self.objects.get(path)
    }

    /// Whether nothing was written between the two.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.objects.ptr_eq(&other.objects)
    }

    /// The objects of `range` in the order of their paths, those from `start` on.
    pub(crate) fn objects<'a>(
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
    pub(crate) fn of(namespace: Option<&str>) -> Self {
        namespace.map_or(Self::All, |namespace| Self::Namespace(namespace.into()))
    }

    pub(crate) fn contains(&self, object: &StoredObject) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(namespace) => object.namespace() == Some(namespace),
        }
    }

    /// The part of a path that all keys of the range have in common.
    pub(crate) fn prefix(&self) -> String {
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
