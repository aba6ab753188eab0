//! Seeded bugs between the cache and a handler: wrong notifications.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use informer::{
    Deleted, EventHandler, Notification, NotificationCause, Object, ObjectKey, Tombstone,
    TombstoneReason,
};

use super::Bug;

/// The bugs of this seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandlerBug {
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

pub(super) const BUGS: &[(HandlerBug, &str, &str)] = &[
    (
        HandlerBug::DeletionsDropped,
        "deletions-dropped",
        "deletions seen in a watch are not delivered",
    ),
    (
        HandlerBug::TombstonesDropped,
        "tombstones-dropped",
        "deletions found by a relist are not delivered",
    ),
    (
        HandlerBug::TombstonesEmpty,
        "tombstones-empty",
        "a tombstone comes without the last known state",
    ),
    (
        HandlerBug::FinalStateLost,
        "final-state-lost",
        "a deletion carries the state before it, not the last one",
    ),
    (
        HandlerBug::UpdateAsAdd,
        "update-as-add",
        "an update is delivered as an add",
    ),
    (
        HandlerBug::AddAsUpdate,
        "add-as-update",
        "an add is delivered as an update",
    ),
    (
        HandlerBug::OldIsNew,
        "old-is-new",
        "an update shows the new state as the old one, too",
    ),
    (
        HandlerBug::RecreationAsUpdate,
        "recreation-as-update",
        "a recreated object is delivered as an update of the old one",
    ),
    (
        HandlerBug::LateJoinerMissesState,
        "late-joiner-misses-state",
        "a late handler is notified of later changes only",
    ),
    (
        HandlerBug::InitialStateTwice,
        "initial-state-twice",
        "the initial state is delivered twice",
    ),
    (
        HandlerBug::InitialFlagLost,
        "initial-flag-lost",
        "the initial state is delivered as new objects",
    ),
    (
        HandlerBug::InitialFlagStuck,
        "initial-flag-stuck",
        "later adds are delivered as part of the initial state",
    ),
    (
        HandlerBug::ResyncDropped,
        "resync-dropped",
        "resyncs are not delivered",
    ),
    (
        HandlerBug::ResyncLate,
        "resync-late",
        "a resync is delivered after a later change of the same object",
    ),
    (
        HandlerBug::PanicIsTheEnd,
        "panic-is-the-end",
        "a handler that panicked once is not notified any more",
    ),
];

/// Notifies a handler, with the deviations of its bug.
#[derive(Debug)]
pub struct BuggyHandler<K, H> {
    inner: H,
    kind: Option<HandlerBug>,
    /// True if the informer had synced when the handler joined.
    is_late: bool,
    is_dead: bool,
    /// Resyncs and deletions that are delivered later.
    held: BTreeMap<ObjectKey, Notification<K>>,
    /// The last state of each key that the handler knows.
    notified: BTreeMap<ObjectKey, Object<K>>,
}

// === impl BuggyHandler ===

impl<K, H> BuggyHandler<K, H>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    /// Wraps `inner`. `is_late` is true if its informer has synced.
    pub fn new(inner: H, bug: Option<Bug>, is_late: bool) -> Self {
        let kind = match bug.map(|bug| bug.kind) {
            Some(super::BugKind::Handler(kind)) => Some(kind),
            _ => None,
        };
        Self {
            inner,
            kind,
            is_late,
            is_dead: false,
            held: BTreeMap::new(),
            notified: BTreeMap::new(),
        }
    }

    /// Returns the notifications that replace one.
    fn changed(&mut self, kind: HandlerBug, notification: Notification<K>) -> Vec<Notification<K>> {
        use HandlerBug as M;
        use Notification::{Add, Delete, Update};

        let changed = match (kind, notification) {
            (M::LateJoinerMissesState, Add { cause, .. }) if self.is_late && cause.is_initial() => {
                return Vec::new();
            }
            (M::DeletionsDropped, Delete { deleted, .. }) if !deleted.is_tombstone() => {
                return Vec::new();
            }
            (M::TombstonesDropped, Delete { deleted, .. }) if deleted.is_tombstone() => {
                return Vec::new();
            }
            (M::ResyncDropped, update) if update.cause() == NotificationCause::Resync => {
                return Vec::new();
            }
            (M::InitialStateTwice, add @ Add { .. }) if add.cause().is_initial() => {
                return vec![add.clone(), add];
            }
            (M::ResyncLate | M::RecreationAsUpdate, notification) => {
                return self.held_back(kind, notification);
            }
            (M::TombstonesEmpty, Delete { deleted, cause }) => Delete {
                deleted: without_state(deleted),
                cause,
            },
            (M::FinalStateLost, Delete { deleted, cause }) => Delete {
                deleted: self.before(deleted),
                cause,
            },
            (M::UpdateAsAdd, Update { new, cause, .. }) if cause != NotificationCause::Resync => {
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
                cause: NotificationCause::Live,
            },
            (M::InitialFlagStuck, Add { object, .. }) => Add {
                object,
                cause: NotificationCause::Initial,
            },
            (_, notification) => notification,
        };
        vec![changed]
    }

    /// Holds a notification back, and returns the one of the same key that was held before.
    fn held_back(
        &mut self,
        kind: HandlerBug,
        notification: Notification<K>,
    ) -> Vec<Notification<K>> {
        let key = notification.key().clone();
        match (kind, self.held.remove(&key), notification) {
            (HandlerBug::ResyncLate, late, notification) => {
                if notification.cause() == NotificationCause::Resync {
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

    /// Returns the deletion with the state that the handler knew before it.
    fn before(&self, deleted: Deleted<K>) -> Deleted<K> {
        match (self.notified.get(deleted.key()), deleted) {
            (Some(notified), Deleted::Object(_)) => Deleted::Object(notified.clone()),
            (_, deleted) => deleted,
        }
    }

    fn note(&mut self, notification: &Notification<K>) {
        match notification {
            Notification::Add { object, .. } | Notification::Update { new: object, .. } => {
                self.notified.insert(object.key().clone(), object.clone());
            }
            Notification::Delete { deleted, .. } => {
                self.notified.remove(deleted.key());
            }
        }
    }

    fn notify(&mut self, notification: &Notification<K>) {
        if self.kind != Some(HandlerBug::PanicIsTheEnd) {
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
        let Some(kind) = self.kind else {
            return self.inner.on_notification(notification);
        };
        let changed = self.changed(kind, notification.clone());
        self.note(notification);
        for notification in &changed {
            self.notify(notification);
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

/// Returns true if an add of the same key follows at once.
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
