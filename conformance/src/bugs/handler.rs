//! Between the cache and a handler: what it is told, wrongly.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use informer::{
    Cause, Deleted, EventHandler, Notification, Object, ObjectKey,
    object::{Tombstone, TombstoneReason},
};

use super::Bug;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    DeletionsDropped,
    TombstonesDropped,
    TombstonesEmpty,
    FinalStateLost,
    UpdateAsAdd,
    AddAsUpdate,
    OldIsNew,
    RecreationAsUpdate,
    LateJoinerMissesState,
    InitialStateTwice,
    InitialFlagLost,
    InitialFlagStuck,
    ResyncDropped,
    ResyncLate,
    PanicIsTheEnd,
}

pub(super) const MISTAKES: &[(Mistake, &str, &str)] = &[
    (
        Mistake::DeletionsDropped,
        "deletions-dropped",
        "deletions that were seen are not told",
    ),
    (
        Mistake::TombstonesDropped,
        "tombstones-dropped",
        "deletions that were found out by a relist are not told",
    ),
    (
        Mistake::TombstonesEmpty,
        "tombstones-empty",
        "a tombstone comes without the last known state",
    ),
    (
        Mistake::FinalStateLost,
        "final-state-lost",
        "a deletion is told with the state before it, not with the last one",
    ),
    (
        Mistake::UpdateAsAdd,
        "update-as-add",
        "an update is told as an add",
    ),
    (
        Mistake::AddAsUpdate,
        "add-as-update",
        "an add is told as an update",
    ),
    (
        Mistake::OldIsNew,
        "old-is-new",
        "an update shows the new state as the old one, too",
    ),
    (
        Mistake::RecreationAsUpdate,
        "recreation-as-update",
        "a new object under an old name is told as an update of the old one",
    ),
    (
        Mistake::LateJoinerMissesState,
        "late-joiner-misses-state",
        "a handler that joins later hears only of what changes from then on",
    ),
    (
        Mistake::InitialStateTwice,
        "initial-state-twice",
        "the initial state is told twice",
    ),
    (
        Mistake::InitialFlagLost,
        "initial-flag-lost",
        "the initial state is told as if it had just come into being",
    ),
    (
        Mistake::InitialFlagStuck,
        "initial-flag-stuck",
        "what is added later is told as a part of the initial state",
    ),
    (
        Mistake::ResyncDropped,
        "resync-dropped",
        "resyncs are not told",
    ),
    (
        Mistake::ResyncLate,
        "resync-late",
        "a resync is told after a later change of the same object",
    ),
    (
        Mistake::PanicIsTheEnd,
        "panic-is-the-end",
        "a handler that panicked once hears nothing more",
    ),
];

/// Tells a handler what it is told, but for what its bug does to that.
#[derive(Debug)]
pub struct BuggyHandler<K, H> {
    inner: H,
    mistake: Option<Mistake>,
    /// Whether the informer had synced when the handler joined.
    is_late: bool,
    is_dead: bool,
    /// Resyncs and deletions that are told later.
    held: BTreeMap<ObjectKey, Notification<K>>,
    /// The last state that was told of each key.
    told: BTreeMap<ObjectKey, Object<K>>,
}

// === impl BuggyHandler ===

impl<K, H> BuggyHandler<K, H>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    /// Tells `inner`. `is_late` if its informer has synced.
    pub fn new(inner: H, bug: Option<Bug>, is_late: bool) -> Self {
        let mistake = match bug.map(|bug| bug.mistake) {
            Some(super::Mistake::Handler(mistake)) => Some(mistake),
            _ => None,
        };
        Self {
            inner,
            mistake,
            is_late,
            is_dead: false,
            held: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    /// What is told in the place of a notification.
    fn changed(&mut self, mistake: Mistake, notification: Notification<K>) -> Vec<Notification<K>> {
        use Mistake as M;
        use Notification::{Add, Delete, Update};

        let changed = match (mistake, notification) {
            (M::LateJoinerMissesState, Add { cause, .. }) if self.is_late && cause.is_initial() => {
                return Vec::new();
            }
            (M::DeletionsDropped, Delete { deleted, .. }) if !deleted.is_tombstone() => {
                return Vec::new();
            }
            (M::TombstonesDropped, Delete { deleted, .. }) if deleted.is_tombstone() => {
                return Vec::new();
            }
            (M::ResyncDropped, update) if update.cause() == Cause::Resync => return Vec::new(),
            (M::InitialStateTwice, add @ Add { .. }) if add.cause().is_initial() => {
                return vec![add.clone(), add];
            }
            (M::ResyncLate | M::RecreationAsUpdate, notification) => {
                return self.held_back(mistake, notification);
            }
            (M::TombstonesEmpty, Delete { deleted, cause }) => Delete {
                deleted: without_state(deleted),
                cause,
            },
            (M::FinalStateLost, Delete { deleted, cause }) => Delete {
                deleted: self.before(deleted),
                cause,
            },
            (M::UpdateAsAdd, Update { new, cause, .. }) if cause != Cause::Resync => {
                Add { object: new, cause }
            }
            (M::AddAsUpdate, Add { object, cause }) => Update {
                old: object.clone(),
                new: object,
                cause,
            },
            (M::OldIsNew, Update { new, cause, .. }) => Update {
                old: new.clone(),
                new,
                cause,
            },
            (M::InitialFlagLost, Add { object, .. }) => Add {
                object,
                cause: Cause::Live,
            },
            (M::InitialFlagStuck, Add { object, .. }) => Add {
                object,
                cause: Cause::Initial,
            },
            (_, notification) => notification,
        };
        vec![changed]
    }

    /// Keeps what is to be told later, and gives what was kept before of the same key.
    fn held_back(
        &mut self,
        mistake: Mistake,
        notification: Notification<K>,
    ) -> Vec<Notification<K>> {
        let key = notification.key().clone();
        match (mistake, self.held.remove(&key), notification) {
            (Mistake::ResyncLate, late, notification) => {
                if notification.cause() == Cause::Resync {
                    self.held.insert(key, notification);
                    return late.into_iter().collect();
                }
                std::iter::once(notification).chain(late).collect()
            }
            (
                _,
                Some(Notification::Delete { deleted, .. }),
                Notification::Add { object, cause },
            ) => {
                let old = deleted.last_known().unwrap_or(&object).clone();
                let new = object;
                vec![Notification::Update { old, new, cause }]
            }
            (_, _, deletion @ Notification::Delete { .. }) if is_recreation(&deletion) => {
                self.held.insert(key, deletion);
                Vec::new()
            }
            (_, _, notification) => vec![notification],
        }
    }

    /// The deletion with the state that was told before it.
    fn before(&self, deleted: Deleted<K>) -> Deleted<K> {
        match (self.told.get(deleted.key()), deleted) {
            (Some(told), Deleted::Object(_)) => Deleted::Object(told.clone()),
            (_, deleted) => deleted,
        }
    }

    fn note(&mut self, notification: &Notification<K>) {
        match notification {
            Notification::Add { object, .. } | Notification::Update { new: object, .. } => {
                self.told.insert(object.key().clone(), object.clone());
            }
            Notification::Delete { deleted, .. } => {
                self.told.remove(deleted.key());
            }
        }
    }

    fn tell(&mut self, notification: &Notification<K>) {
        if self.mistake != Some(Mistake::PanicIsTheEnd) {
            return self.inner.on_notification(notification);
        }
        if self.is_dead {
            return;
        }
        let call = AssertUnwindSafe(|| self.inner.on_notification(notification));
        if let Err(panic) = catch_unwind(call) {
            self.is_dead = true;
            resume_unwind(panic);
        }
    }
}

impl<K, H> EventHandler<K> for BuggyHandler<K, H>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    fn on_notification(&mut self, notification: &Notification<K>) {
        let Some(mistake) = self.mistake else {
            return self.inner.on_notification(notification);
        };
        let changed = self.changed(mistake, notification.clone());
        self.note(notification);
        for notification in &changed {
            self.tell(notification);
        }
    }
}

fn without_state<K>(deleted: Deleted<K>) -> Deleted<K> {
    match deleted {
        Deleted::Tombstone(tombstone) => Deleted::Tombstone(Tombstone {
            last_known: None,
            ..tombstone
        }),
        deleted @ Deleted::Object(_) => deleted,
    }
}

/// Whether an add of the same key follows at once.
fn is_recreation<K>(notification: &Notification<K>) -> bool {
    let Notification::Delete {
        deleted: Deleted::Tombstone(tombstone),
        ..
    } = notification
    else {
        return false;
    };
    tombstone.reason == TombstoneReason::UidChanged
}
