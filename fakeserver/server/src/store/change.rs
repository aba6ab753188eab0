//! A write: the object of a key before and after it.

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use fakeserver_value::{resource::GroupResource, revision::Revision};
use tokio::time::Instant;

use super::{ObjectKey, StoredObject, packer::Packer};

/// The effect of a write on its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: a key is filled, replaced or emptied"
)]
pub enum ChangeKind {
    /// There was no object.
    Created,
    /// An object was replaced.
    Updated,
    /// The object was deleted.
    Deleted,
}

/// A write, with its cached watch frames.
#[derive(Debug)]
pub struct Change {
    revision: Revision,
    /// At least one of the two is present.
    before: Option<Arc<StoredObject>>,
    after: Option<Arc<StoredObject>>,
    committed: CommitTime,
    frames: FrameCache,
}

/// An instant in half the space: nanoseconds since a fixed instant of the process.
#[derive(Debug, Clone, Copy)]
struct CommitTime(u64);

/// The instant that commit times are counted from.
static ORIGIN: OnceLock<Instant> = OnceLock::new();
/// The time between that instant and the first write: paused clocks of the same process may be behind it.
const BEFORE_ALL: Duration = Duration::from_hours(24);

/// The cached frames of a change; `None` for older changes, whose frames are dropped.
#[derive(Debug)]
struct FrameCache(Mutex<Option<Box<Frames>>>);

/// Frames by encoding: a handful at most, so a list suffices.
#[derive(Debug, Default)]
struct Frames(Vec<Frame>);

/// The key of an encoding, and its frame.
type Frame = (Box<[u8]>, Bytes);

// === impl Change ===

impl Change {
    /// A write that replaces `before` by `after`; one of them is present.
    pub(super) fn new(
        revision: Revision,
        before: Option<Arc<StoredObject>>,
        after: Option<Arc<StoredObject>>,
        committed: Instant,
    ) -> Option<Self> {
        if before.is_none() && after.is_none() {
            return None;
        }
        Some(Self {
            revision,
            before,
            after,
            committed: CommitTime::of(committed),
            frames: FrameCache(Mutex::new(Some(Box::default()))),
        })
    }

    /// Returns the same write with its objects in another representation; its frames are rebuilt.
    pub fn with_objects(
        &self,
        before: Option<Arc<StoredObject>>,
        after: Option<Arc<StoredObject>>,
    ) -> Option<Self> {
        Self::new(self.revision, before, after, self.committed())
    }

    /// Returns the same write at another revision, over `before`.
    pub(super) fn at(
        &self,
        revision: Revision,
        before: Option<Arc<StoredObject>>,
        committed: Instant,
    ) -> Option<Self> {
        let after = self.after().map(|after| match after.revision() {
            made if made == revision.get() => Arc::clone(after),
            _ => Arc::new(after.at(revision)),
        });
        Self::new(revision, before, after, committed)
    }

    /// The revision that the write took.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// Returns the time of the write, by the clock of the process: for measuring how long delivery takes.
    pub fn committed(&self) -> Instant {
        self.committed.instant()
    }

    /// Returns the kind of the write.
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Created,
            (Some(_), Some(_)) => ChangeKind::Updated,
            (Some(_), None) => ChangeKind::Deleted,
        }
    }

    /// The object that the write replaced or deleted.
    pub fn before(&self) -> Option<&Arc<StoredObject>> {
        self.before.as_ref()
    }

    /// The object that the write left.
    pub fn after(&self) -> Option<&Arc<StoredObject>> {
        self.after.as_ref()
    }

    /// The object that the change is about: the new one, or the last one.
    pub fn subject(&self) -> &Arc<StoredObject> {
        let subject = self.after.as_ref().or(self.before.as_ref());
        subject.expect("a change has an object before or after it")
    }

    pub fn key(&self) -> &ObjectKey {
        self.subject().key()
    }

    pub fn resource(&self) -> &GroupResource {
        self.subject().resource()
    }

    /// Returns the size that the change adds to the history: the bytes that it superseded, and its own fields.
    pub(super) fn history_bytes(&self) -> u64 {
        /// The change itself, what stands around the JSON of a version, and an entry of a persistent map.
        const AROUND: usize = 384;
        let superseded = self.before().map_or(0, |before| before.held_bytes());
        (superseded + AROUND) as u64
    }

    /// Drops the cached frames, and compresses the superseded object by `packer`.
    pub(super) fn retire(&self, packer: &Packer) {
        *self.frames() = None;
        if let Some(before) = self.before() {
            before.pack(packer);
        }
    }

    /// A panic while a frame is encoded leaves the list unchanged, so a poisoned lock is still valid.
    fn frames(&self) -> MutexGuard<'_, Option<Box<Frames>>> {
        self.frames.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cached frame of `key`, encoded by `encode` on first use.
    pub fn frame(&self, key: &[u8], encode: impl FnOnce() -> Bytes) -> Bytes {
        let mut frames = self.frames();
        let Some(Frames(frames)) = frames.as_deref_mut() else {
            return encode();
        };
        if let Some((_, frame)) = frames.iter().find(|(cached_key, _)| **cached_key == *key) {
            return frame.clone();
        }
        let frame = encode();
        frames.push((key.into(), frame.clone()));
        frame
    }
}

// === impl CommitTime ===

impl CommitTime {
    fn of(instant: Instant) -> Self {
        let origin = ORIGIN.get_or_init(|| instant.checked_sub(BEFORE_ALL).unwrap_or(instant));
        let after = instant.saturating_duration_since(*origin);
        Self(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX))
    }

    fn instant(self) -> Instant {
        let origin = ORIGIN.get().expect("every moment is counted from it");
        *origin + Duration::from_nanos(self.0)
    }
}
