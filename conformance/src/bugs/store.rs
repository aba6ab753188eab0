//! Seeded bugs between the reflector and the cache: wrong writes.

use std::{collections::BTreeMap, time::Duration};

use informer::{
    Object, ObjectKey, ResourceVersion,
    reflector::{Delta, ReflectorStore, Replacement, StoreClosed},
};
use tokio::time::sleep;

use super::Bug;

/// The delay of the second half of a list.
const SECOND_HALF: Duration = Duration::from_secs(2);
/// The delay of a change that a bookmark overtakes.
const OVERTAKEN: Duration = Duration::from_secs(1);

/// The bugs of this seam.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreBug {
    RelistDeletesNothing,
    RelistKeepsVersion,
    ListEndsEarly,
    SyncedByHalf,
    BookmarkOvertakes,
    BookmarksDropped,
    DeleteAsUpdate,
    DeletionWithoutVersion,
    UpdatesMerged,
    RecreationLost,
    ChangeAfterRelist,
}

pub(super) const BUGS: &[(StoreBug, &str, &str)] = &[
    (
        StoreBug::RelistDeletesNothing,
        "relist-deletes-nothing",
        "a relist adds and updates, but removes nothing",
    ),
    (
        StoreBug::RelistKeepsVersion,
        "relist-keeps-version",
        "a relist does not move the version of the cache",
    ),
    (
        StoreBug::ListEndsEarly,
        "list-ends-early",
        "the last object of each list is left out",
    ),
    (
        StoreBug::SyncedByHalf,
        "synced-by-half",
        "the first list counts as complete when the first half of it is in the cache",
    ),
    (
        StoreBug::BookmarkOvertakes,
        "bookmark-overtakes",
        "a bookmark takes effect before an earlier change",
    ),
    (
        StoreBug::BookmarksDropped,
        "bookmarks-dropped",
        "bookmarks do not reach the cache, so that its version falls behind",
    ),
    (
        StoreBug::DeleteAsUpdate,
        "delete-as-update",
        "a deletion counts as an update with the last state",
    ),
    (
        StoreBug::DeletionWithoutVersion,
        "deletion-without-version",
        "a deletion carries the version before it, not its own",
    ),
    (
        StoreBug::UpdatesMerged,
        "updates-merged",
        "of two updates of one object that come together the first is dropped",
    ),
    (
        StoreBug::RecreationLost,
        "recreation-lost",
        "an object that is created again right after its deletion is dropped as a duplicate",
    ),
    (
        StoreBug::ChangeAfterRelist,
        "change-after-relist",
        "a change that waits when a relist comes is applied after it",
    ),
];

/// Writes to a store, with the deviations of its bug.
#[derive(Debug)]
pub struct BuggyStore<K, S> {
    inner: S,
    kind: Option<StoreBug>,
    held: Option<Delta<K>>,
    /// True if the held change is of an object that existed before it.
    is_held_update: bool,
    /// The last state of each key.
    objects: BTreeMap<ObjectKey, Object<K>>,
    /// The version of the last whole state; `None` before the first.
    version: Option<ResourceVersion>,
    /// The key that was deleted last, if nothing came since.
    deleted: Option<ObjectKey>,
}

// === impl BuggyStore ===

impl<K, S> BuggyStore<K, S>
where
    K: Send + Sync + 'static,
    S: ReflectorStore<K>,
{
    /// Writes to `inner`.
    pub fn new(inner: S, bug: Option<Bug>) -> Self {
        let kind = match bug.map(|bug| bug.kind) {
            Some(super::BugKind::Store(kind)) => Some(kind),
            _ => None,
        };
        Self {
            inner,
            kind,
            held: None,
            is_held_update: false,
            objects: BTreeMap::new(),
            version: None,
            deleted: None,
        }
    }

    /// Takes the change of one object.
    async fn change(&mut self, kind: StoreBug, delta: Delta<K>) -> Result<(), StoreClosed> {
        let was_deleted = self.deleted.take();
        let before = self.note(&delta);
        let delta = match (kind, delta) {
            (StoreBug::DeleteAsUpdate, Delta::Deleted(object)) => Delta::Upserted(object),
            (StoreBug::DeletionWithoutVersion, Delta::Deleted(object)) => {
                Delta::Deleted(before.unwrap_or(object))
            }
            (StoreBug::RecreationLost, Delta::Upserted(object))
                if was_deleted.as_ref() == Some(object.key()) =>
            {
                return Ok(());
            }
            (StoreBug::RecreationLost, Delta::Deleted(object)) => {
                self.deleted = Some(object.key().clone());
                Delta::Deleted(object)
            }
            (StoreBug::UpdatesMerged, delta) => return self.merge(delta, before.is_some()).await,
            (StoreBug::BookmarkOvertakes | StoreBug::ChangeAfterRelist, delta) => {
                let held = self.held.replace(delta);
                return self.write_all(held).await;
            }
            (_, delta) => delta,
        };
        self.inner.write(delta).await
    }

    /// Holds a change until another one comes, and drops it if both are updates of the same object.
    async fn merge(&mut self, delta: Delta<K>, is_known: bool) -> Result<(), StoreClosed> {
        let is_update = is_known && matches!(delta, Delta::Upserted(_));
        let was_update = std::mem::replace(&mut self.is_held_update, is_update);
        let held_key = self.held.as_ref().and_then(Delta::key);
        let is_merged = is_update && was_update && held_key == delta.key();
        let held = self.held.replace(delta);
        if is_merged {
            return Ok(());
        }
        self.write_all(held).await
    }

    async fn write_all(
        &mut self,
        deltas: impl IntoIterator<Item = Delta<K>> + Send,
    ) -> Result<(), StoreClosed> {
        let deltas: Vec<_> = deltas.into_iter().collect();
        for delta in deltas {
            self.inner.write(delta).await?;
        }
        Ok(())
    }

    async fn replace(
        &mut self,
        kind: StoreBug,
        mut replacement: Replacement<K>,
    ) -> Result<(), StoreClosed> {
        let version = replacement.resource_version.clone();
        let last_version = self.version.replace(version.clone());
        let objects = replacement.objects.iter();
        let objects = objects.map(|object| (object.key().clone(), object.clone()));
        self.objects = objects.collect();
        match (kind, last_version) {
            (StoreBug::RelistDeletesNothing, Some(_)) => {
                self.write_all(replacement.objects.into_iter().map(Delta::Upserted))
                    .await?;
                return self.inner.write(Delta::Bookmark(version)).await;
            }
            (StoreBug::RelistKeepsVersion, Some(last)) => replacement.resource_version = last,
            (StoreBug::ListEndsEarly, _) => drop(replacement.objects.pop()),
            (StoreBug::SyncedByHalf, None) => return self.first_half(replacement).await,
            (StoreBug::ChangeAfterRelist, _) => {
                self.inner.write(Delta::ReplacedAll(replacement)).await?;
                let held = self.held.take();
                return self.write_all(held).await;
            }
            _ => {
                let held = self.held.take();
                self.write_all(held).await?;
            }
        }
        self.inner.write(Delta::ReplacedAll(replacement)).await
    }

    async fn first_half(&mut self, mut replacement: Replacement<K>) -> Result<(), StoreClosed> {
        let half = replacement.objects.len() / 2;
        let rest = replacement.objects.split_off(half);
        self.inner.write(Delta::ReplacedAll(replacement)).await?;
        sleep(SECOND_HALF).await;
        self.write_all(rest.into_iter().map(Delta::Upserted)).await
    }

    async fn bookmark(
        &mut self,
        kind: StoreBug,
        version: ResourceVersion,
    ) -> Result<(), StoreClosed> {
        match kind {
            StoreBug::BookmarksDropped => return Ok(()),
            StoreBug::BookmarkOvertakes => {
                self.inner.write(Delta::Bookmark(version)).await?;
                sleep(OVERTAKEN).await;
                let held = self.held.take();
                return self.write_all(held).await;
            }
            _ => {}
        }
        let held = self.held.take();
        self.write_all(held).await?;
        self.inner.write(Delta::Bookmark(version)).await
    }

    /// Remembers the state that a change leads to; returns the one before it.
    fn note(&mut self, delta: &Delta<K>) -> Option<Object<K>> {
        match delta {
            Delta::Upserted(object) => self.objects.insert(object.key().clone(), object.clone()),
            delta => self.objects.remove(delta.key()?),
        }
    }
}

impl<K, S> ReflectorStore<K> for BuggyStore<K, S>
where
    K: Send + Sync + 'static,
    S: ReflectorStore<K>,
{
    async fn write(&mut self, delta: Delta<K>) -> Result<(), StoreClosed> {
        match (self.kind, delta) {
            (Some(kind), delta @ (Delta::Upserted(_) | Delta::Deleted(_))) => {
                self.change(kind, delta).await
            }
            (Some(kind), Delta::ReplacedAll(replacement)) => self.replace(kind, replacement).await,
            (Some(kind), Delta::Bookmark(version)) => self.bookmark(kind, version).await,
            (_, delta) => self.inner.write(delta).await,
        }
    }
}
