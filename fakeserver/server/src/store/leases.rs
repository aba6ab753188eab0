//! Objects that expire: events, one hour after their last write.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use fakeserver_kinds;
use fakeserver_value::resource::GroupResource;
use tokio::time::{Instant, sleep_until};

use super::{Change, ChangeSink, ObjectKey, Range, Storage, View};
use crate::task::TaskSet;

/// The lifetime of an event.
const EVENT_TTL: Duration = Duration::from_hours(1);

/// The expiry times of objects, updated with every change of the store.
#[derive(Debug, Default)]
pub struct Leases(Mutex<Table>);

/// The pure core: one lease for each object.
#[derive(Debug, Default)]
struct Table {
    by_key: BTreeMap<ObjectKey, Lease>,
    by_time: BTreeSet<(Instant, ObjectKey)>,
    /// True if a task waits for the next one to expire.
    is_kept: bool,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    expires: Instant,
    /// Of the write that it was granted for.
    revision: u64,
}

// === impl Leases ===

impl Leases {
    /// Starts the task that deletes expired objects from `storage`, if it is needed and does not run.
    pub fn start_expiry(self: &Arc<Self>, storage: &Arc<Storage>, tasks: &TaskSet) {
        // A log deletes them itself, once for all servers.
        if storage.log().is_some() || !self.start() {
            return;
        }
        let (leases, storage) = (Arc::clone(self), Arc::clone(storage));
        let stop = tasks.stop_token().clone();
        tasks.spawn(async move {
            while let Some(next) = leases.next() {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    () = sleep_until(next) => leases.expire(&storage, next),
                }
            }
        });
    }

    /// Grants leases to objects that were restored rather than written: their age is unknown.
    pub fn renew(&self, view: View<'_>, now: Instant) {
        let mut table = self.lock();
        for resource in view.resources().filter(|resource| expires(resource)) {
            let snapshot = view.snapshot(resource);
            for object in snapshot.objects(&Range::All, None) {
                let lease = Lease {
                    expires: now + EVENT_TTL,
                    revision: object.revision(),
                };
                table.set(object.key(), Some(lease));
            }
        }
    }

    /// Deletes the objects that have expired at `now`, unless they were written since.
    fn expire(&self, storage: &Storage, now: Instant) {
        let expired = self.take_expired(now);
        if expired.is_empty() {
            return;
        }
        let deleted: Result<(), Infallible> = storage.transact(|tx| {
            for (key, revision) in expired {
                let found = tx.get(&key);
                // The lease may be of an older version: a write in between has renewed it.
                if found.is_some_and(|object| object.revision() == revision) {
                    tx.delete(&key);
                }
            }
            Ok(())
        });
        let Ok(()) = deleted;
    }

    /// Returns whether the caller has to start the task that waits for expiry.
    fn start(&self) -> bool {
        let mut table = self.lock();
        let is_needed = !table.is_kept && !table.by_time.is_empty();
        table.is_kept |= is_needed;
        is_needed
    }

    /// Returns the time of the next expiry; `None` if there is none: the task then ends.
    fn next(&self) -> Option<Instant> {
        let mut table = self.lock();
        let next = table.by_time.first().map(|(expires, _)| *expires);
        // Under the lock under which it is read: a lease granted right after finds that no task runs, and starts one.
        table.is_kept = next.is_some();
        next
    }

    /// Takes the objects that have expired at `now`, with the revisions that they had.
    fn take_expired(&self, now: Instant) -> Vec<(ObjectKey, u64)> {
        self.lock().take_expired(now)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeSink for Leases {
    fn changed(&self, change: &Arc<Change>) {
        if !expires(change.resource()) {
            return;
        }
        let lease = change.after().map(|object| Lease {
            expires: change.committed() + EVENT_TTL,
            revision: object.revision(),
        });
        self.lock().set(change.key(), lease);
    }

    fn reset(&self) {
        let mut table = self.lock();
        table.by_key.clear();
        table.by_time.clear();
    }
}

/// Returns the time for which objects of a resource are kept, if that is limited.
pub(super) fn lifetime(resource: &GroupResource) -> Option<Duration> {
    expires(resource).then_some(EVENT_TTL)
}

fn expires(resource: &GroupResource) -> bool {
    resource == fakeserver_kinds::core::event::KIND.storage()
}

// === impl Table ===

impl Table {
    /// Grants a lease instead of the one that there was, or takes it away.
    fn set(&mut self, key: &ObjectKey, lease: Option<Lease>) {
        let before = match lease {
            Some(lease) => {
                self.by_time.insert((lease.expires, key.clone()));
                self.by_key.insert(key.clone(), lease)
            }
            None => self.by_key.remove(key),
        };
        let moved = before.filter(|before| lease.is_none_or(|new| new.expires != before.expires));
        if let Some(before) = moved {
            self.by_time.remove(&(before.expires, key.clone()));
        }
    }

    fn take_expired(&mut self, now: Instant) -> Vec<(ObjectKey, u64)> {
        let mut expired = Vec::new();
        while let Some((expires, _)) = self.by_time.first()
            && *expires <= now
        {
            let Some((_, key)) = self.by_time.pop_first() else {
                break;
            };
            if let Some(lease) = self.by_key.remove(&key) {
                expired.push((key, lease.revision));
            }
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(name: u8) -> ObjectKey {
        let events = fakeserver_kinds::events::event::KIND.storage().clone();
        ObjectKey::namespaced(events, "n", &name.to_string())
    }

    #[test]
    fn only_events_expire() {
        assert!(expires(key(0).resource()));
        assert!(!expires(fakeserver_kinds::core::pod::KIND.storage()));
    }

    #[tokio::test(start_paused = true)]
    async fn one_task_runs_while_a_lease_exists() {
        let leases = Leases::default();
        assert!(!leases.start(), "there is nothing");
        let now = Instant::now();
        let lease = Lease {
            expires: now,
            revision: 7,
        };
        leases.lock().set(&key(1), Some(lease));
        assert!(leases.start());
        assert!(!leases.start(), "somebody waits already");
        assert_eq!(leases.next(), Some(now));
        assert_eq!(leases.take_expired(now), [(key(1), 7)]);
        assert_eq!(leases.next(), None);
        leases.lock().set(&key(1), Some(lease));
        assert!(leases.start(), "nobody waits any more");
    }

    proptest! {
        /// A model: the last lease of each key, and what of it has expired.
        #[test]
        fn each_object_expires_when_its_last_lease_does(
            writes in prop::collection::vec((0_u8..5, prop::option::of(0_u64..50)), 0..40),
            now in 0_u64..60,
        ) {
            let start = Instant::now();
            let at = |seconds: u64| start + Duration::from_secs(seconds);
            let mut table = Table::default();
            let mut model = BTreeMap::new();
            for (revision, (name, expires)) in (1_u64..).zip(writes) {
                let lease = expires.map(|seconds| Lease { expires: at(seconds), revision });
                table.set(&key(name), lease);
                match expires {
                    Some(seconds) => model.insert(key(name), (seconds, revision)),
                    None => model.remove(&key(name)),
                };
            }
            let mut expected: Vec<_> = model
                .iter()
                .filter(|(_, (expires, _))| *expires <= now)
                .map(|(key, (expires, revision))| (*expires, key.clone(), *revision))
                .collect();
            expected.sort();
            let expected: Vec<_> = expected.into_iter().map(|(_, key, revision)| (key, revision)).collect();
            let left = model.len() - expected.len();
            prop_assert_eq!(table.take_expired(at(now)), expected);
            prop_assert_eq!((table.by_key.len(), table.by_time.len()), (left, left));
        }
    }
}
