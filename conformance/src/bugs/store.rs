//! Between the reflector and the cache: what is written, wrongly.

use std::{collections::BTreeMap, time::Duration};

use informer::{
    Object, ObjectKey, ReflectorStore, ResourceVersion,
    object::DecodeError,
    store::{Replacement, StoreClosed},
};
use tokio::time::sleep;

use super::Bug;

/// How long the second half of a list takes.
const SECOND_HALF: Duration = Duration::from_secs(2);
/// How much later than a bookmark a change comes that it overtook.
const OVERTAKEN: Duration = Duration::from_secs(1);

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
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

pub(super) const MISTAKES: &[(Mistake, &str, &str)] = &[
    (
        Mistake::RelistDeletesNothing,
        "relist-deletes-nothing",
        "a relist adds and updates, but does not take out what is gone",
    ),
    (
        Mistake::RelistKeepsVersion,
        "relist-keeps-version",
        "after a relist the cache says that it stands where it stood before",
    ),
    (
        Mistake::ListEndsEarly,
        "list-ends-early",
        "the last object of each list is left out",
    ),
    (
        Mistake::SyncedByHalf,
        "synced-by-half",
        "the first list counts as complete when the first half of it is in the cache",
    ),
    (
        Mistake::BookmarkOvertakes,
        "bookmark-overtakes",
        "a bookmark is believed while a change before it still waits",
    ),
    (
        Mistake::BookmarksDropped,
        "bookmarks-dropped",
        "bookmarks do not reach the cache, so that its version falls behind",
    ),
    (
        Mistake::DeleteAsUpdate,
        "delete-as-update",
        "a deletion is taken for an update with the last state",
    ),
    (
        Mistake::DeletionWithoutVersion,
        "deletion-without-version",
        "a deletion carries the version before it, not its own",
    ),
    (
        Mistake::UpdatesMerged,
        "updates-merged",
        "of two updates of one object that come together the first is dropped",
    ),
    (
        Mistake::RecreationLost,
        "recreation-lost",
        "an object that is made anew right after its deletion is dropped as a duplicate",
    ),
    (
        Mistake::ChangeAfterRelist,
        "change-after-relist",
        "a change that waits when a relist comes is applied after it",
    ),
];

/// Writes to a store what it is told to, but for what its bug does to that.
#[derive(Debug)]
pub struct BuggyStore<K, S> {
    inner: S,
    mistake: Option<Mistake>,
    held: Option<Change<K>>,
    /// The last state of each key.
    known: BTreeMap<ObjectKey, Object<K>>,
    /// The version of the last whole state; `None` before the first.
    version: Option<ResourceVersion>,
    /// The key that was deleted last, if nothing came since.
    deleted: Option<ObjectKey>,
}

/// One change of one object.
#[derive(Debug)]
enum Change<K> {
    Added(Object<K>),
    Updated(Object<K>),
    Deleted(Object<K>),
}

// === impl BuggyStore ===

impl<K, S> BuggyStore<K, S>
where
    K: Send + Sync + 'static,
    S: ReflectorStore<K>,
{
    /// Writes to `inner`.
    pub fn new(inner: S, bug: Option<Bug>) -> Self {
        let mistake = match bug.map(|bug| bug.mistake) {
            Some(super::Mistake::Store(mistake)) => Some(mistake),
            _ => None,
        };
        Self {
            inner,
            mistake,
            held: None,
            known: BTreeMap::new(),
            version: None,
            deleted: None,
        }
    }

    async fn change(&mut self, change: Change<K>) -> Result<(), StoreClosed> {
        let Some(mistake) = self.mistake else {
            return self.write(change).await;
        };
        let was_deleted = self.deleted.take();
        let before = self.note(&change);
        let change = match (mistake, change) {
            (Mistake::DeleteAsUpdate, Change::Deleted(object)) => Change::Updated(object),
            (Mistake::DeletionWithoutVersion, Change::Deleted(object)) => {
                Change::Deleted(before.unwrap_or(object))
            }
            (Mistake::RecreationLost, Change::Added(object))
                if was_deleted.as_ref() == Some(object.key()) =>
            {
                return Ok(());
            }
            (Mistake::RecreationLost, Change::Deleted(object)) => {
                self.deleted = Some(object.key().clone());
                Change::Deleted(object)
            }
            (Mistake::UpdatesMerged, change) => return self.merge(change).await,
            (Mistake::BookmarkOvertakes | Mistake::ChangeAfterRelist, change) => {
                let held = self.held.replace(change);
                return self.write_all(held).await;
            }
            (_, change) => change,
        };
        self.write(change).await
    }

    /// Holds a change until another one comes, and drops it if that is about the same object.
    async fn merge(&mut self, change: Change<K>) -> Result<(), StoreClosed> {
        let held = self.held.take();
        let is_merged = match (&held, &change) {
            (Some(Change::Updated(first)), Change::Updated(second)) => first.key() == second.key(),
            _ => false,
        };
        self.held = Some(change);
        if is_merged {
            return Ok(());
        }
        self.write_all(held).await
    }

    async fn write(&mut self, change: Change<K>) -> Result<(), StoreClosed> {
        match change {
            Change::Added(object) => self.inner.add(object).await,
            Change::Updated(object) => self.inner.update(object).await,
            Change::Deleted(object) => self.inner.delete(object).await,
        }
    }

    async fn write_all(
        &mut self,
        changes: impl IntoIterator<Item = Change<K>> + Send,
    ) -> Result<(), StoreClosed> {
        let changes: Vec<_> = changes.into_iter().collect();
        for change in changes {
            self.write(change).await?;
        }
        Ok(())
    }

    async fn first_half(&mut self, mut replacement: Replacement<K>) -> Result<(), StoreClosed> {
        let half = replacement.objects.len() / 2;
        let rest = replacement.objects.split_off(half);
        self.inner.replace(replacement).await?;
        sleep(SECOND_HALF).await;
        self.write_all(rest.into_iter().map(Change::Added)).await
    }

    /// Remembers the state; gives that before it.
    fn note(&mut self, change: &Change<K>) -> Option<Object<K>> {
        match change {
            Change::Added(object) | Change::Updated(object) => {
                self.known.insert(object.key().clone(), object.clone())
            }
            Change::Deleted(object) => self.known.remove(object.key()),
        }
    }
}

impl<K, S> ReflectorStore<K> for BuggyStore<K, S>
where
    K: Send + Sync + 'static,
    S: ReflectorStore<K>,
{
    async fn add(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.change(Change::Added(object)).await
    }

    async fn update(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.change(Change::Updated(object)).await
    }

    async fn delete(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.change(Change::Deleted(object)).await
    }

    async fn undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.inner.undecodable(error).await
    }

    async fn delete_undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.inner.delete_undecodable(error).await
    }

    async fn replace(&mut self, mut replacement: Replacement<K>) -> Result<(), StoreClosed> {
        let Some(mistake) = self.mistake else {
            return self.inner.replace(replacement).await;
        };
        let version = replacement.resource_version.clone();
        let last_version = self.version.replace(version.clone());
        let objects = replacement.objects.iter();
        let known = objects.map(|object| (object.key().clone(), object.clone()));
        self.known = known.collect();
        match (mistake, last_version) {
            (Mistake::RelistDeletesNothing, Some(_)) => {
                self.write_all(replacement.objects.into_iter().map(Change::Added))
                    .await?;
                return self.inner.bookmark(version).await;
            }
            (Mistake::RelistKeepsVersion, Some(last)) => replacement.resource_version = last,
            (Mistake::ListEndsEarly, _) => drop(replacement.objects.pop()),
            (Mistake::SyncedByHalf, None) => return self.first_half(replacement).await,
            (Mistake::ChangeAfterRelist, _) => {
                self.inner.replace(replacement).await?;
                let held = self.held.take();
                return self.write_all(held).await;
            }
            _ => {
                let held = self.held.take();
                self.write_all(held).await?;
            }
        }
        self.inner.replace(replacement).await
    }

    async fn bookmark(&mut self, resource_version: ResourceVersion) -> Result<(), StoreClosed> {
        match self.mistake {
            None => return self.inner.bookmark(resource_version).await,
            Some(Mistake::BookmarksDropped) => return Ok(()),
            Some(Mistake::BookmarkOvertakes) => {
                self.inner.bookmark(resource_version).await?;
                sleep(OVERTAKEN).await;
                let held = self.held.take();
                return self.write_all(held).await;
            }
            Some(_) => {}
        }
        let held = self.held.take();
        self.write_all(held).await?;
        self.inner.bookmark(resource_version).await
    }
}
