//! One write: what a key held before and after it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::time::Instant;

use super::{ObjectKey, StoredObject, key::GroupResource};
use crate::revision::Revision;

/// What a write did to its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: a key is filled, replaced or emptied"
)]
pub enum ChangeKind {
    /// There was no object.
    Created,
    /// There was one, and there is one.
    Updated,
    /// There is none any more.
    Deleted,
}

/// One write, with the watch frames that were made of it.
#[derive(Debug)]
pub struct Change {
    revision: Revision,
    state: State,
    pub(super) committed: Instant,
    frames: FrameCache,
}

#[derive(Debug)]
enum State {
    Created(Arc<StoredObject>),
    Updated(Arc<StoredObject>, Arc<StoredObject>),
    Deleted(Arc<StoredObject>),
}

/// The encodings of one change, by what distinguishes them. A handful at most, so a list serves. Nothing once the change is
/// so old that they are not kept.
#[derive(Debug)]
struct FrameCache(Mutex<Option<Vec<Frame>>>);

/// What distinguishes an encoding, and what it made.
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
        let state = match (before, after) {
            (None, Some(after)) => State::Created(after),
            (Some(before), Some(after)) => State::Updated(before, after),
            (Some(before), None) => State::Deleted(before),
            (None, None) => return None,
        };
        Some(Self {
            revision,
            state,
            committed,
            frames: FrameCache(Mutex::new(Some(Vec::new()))),
        })
    }

    /// The same write of objects that say the same otherwise; its frames are made anew.
    pub(crate) fn saying(
        &self,
        before: Option<Arc<StoredObject>>,
        after: Option<Arc<StoredObject>>,
    ) -> Option<Self> {
        Self::new(self.revision, before, after, self.committed)
    }

    /// The revision that the write took.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// When the write was made, by the clock of the process: to measure how long it takes until somebody hears of it.
    pub fn committed(&self) -> Instant {
        self.committed
    }

    /// What the write did.
    pub fn kind(&self) -> ChangeKind {
        match self.state {
            State::Created(_) => ChangeKind::Created,
            State::Updated(..) => ChangeKind::Updated,
            State::Deleted(_) => ChangeKind::Deleted,
        }
    }

    /// The object that the write replaced or deleted.
    pub fn before(&self) -> Option<&Arc<StoredObject>> {
        match &self.state {
            State::Created(_) => None,
            State::Updated(before, _) | State::Deleted(before) => Some(before),
        }
    }

    /// The object that the write left.
    pub fn after(&self) -> Option<&Arc<StoredObject>> {
        match &self.state {
            State::Created(after) | State::Updated(_, after) => Some(after),
            State::Deleted(_) => None,
        }
    }

    /// The object that the change is about: the new one, or the last one.
    pub(crate) fn subject(&self) -> &Arc<StoredObject> {
        match &self.state {
            State::Created(object) | State::Updated(_, object) | State::Deleted(object) => object,
        }
    }

    pub(crate) fn key(&self) -> &ObjectKey {
        self.subject().key()
    }

    pub(crate) fn resource(&self) -> &GroupResource {
        self.subject().resource()
    }

    /// What the change adds to the history: the bytes that it superseded, and what stands around them.
    pub(super) fn history_bytes(&self) -> u64 {
        /// The change itself, what is parsed of the object, and a part of a copied path of a persistent map.
        const AROUND: usize = 1 << 10;
        let superseded = self.before().map_or(0, |before| before.held_bytes());
        (superseded + AROUND) as u64
    }

    /// Keeps no frames any more.
    pub(super) fn forget_frames(&self) {
        *self.frames() = None;
    }

    /// A panic while a frame is encoded leaves the list as it was.
    fn frames(&self) -> MutexGuard<'_, Option<Vec<Frame>>> {
        self.frames.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The frame that is known by `key`, encoded by `encode` on first use and shared from then on.
    pub(crate) fn frame(&self, key: &[u8], encode: impl FnOnce() -> Bytes) -> Bytes {
        let mut frames = self.frames();
        let Some(frames) = frames.as_mut() else {
            return encode();
        };
        if let Some((_, frame)) = frames.iter().find(|(known, _)| **known == *key) {
            return frame.clone();
        }
        let frame = encode();
        frames.push((key.into(), frame.clone()));
        frame
    }
}
