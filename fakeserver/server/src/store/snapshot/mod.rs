//! Snapshots of the whole store, as values and as files.
//!
//! A file is lines of JSON:
//!
//! ```text
//! {"format":"fakeserver.snapshot","version":1,"kubernetes":["1.36.2"],"revision":9,"time":"...","seed":0,"drawn":{...},"objects":2}
//! {"group":"apiextensions.k8s.io","resource":"customresourcedefinitions","object":{"metadata":{...},...}}
//! {"group":"","resource":"pods","object":{"metadata":{"name":"p","namespace":"default",...},...}}
//! {"end":true,"sha256":"..."}
//! ```
//!
//! The head has the releases of Kubernetes by which the objects were written, that of the server first, the revision of the store, its time, and the positions of the seeded generators, so that no uid is
//! drawn twice. Definitions of custom resources come first, then the other objects by resource, namespace and name,
//! each as it is stored, with its version, and custom objects with the `apiVersion` in which they are stored. The last line proves that nothing is missing or changed: a file is restored
//! completely, or not at all. History is not saved: reads of versions before the snapshot are answered with 410, as
//! after a compaction.
//!
//! Beside the file of a server there may be a log, whose records are the commits since the snapshot (`commits`). Then the
//! head of the snapshot has its place in that log, `"log":{"sequence":12,"after":"..."}`.

mod format;
mod commits;
mod data_log;
mod file;
mod error;
mod etcd;
#[cfg(test)]
mod tests;

use std::{fmt, path::Path};

use bytes::Bytes;
use fakeserver_kinds::apiextensions::custom_resource_definition;
use fakeserver_value::revision::Revision;
use jiff::Timestamp;

pub use self::data_log::DataLog;
pub use self::error::SnapshotError;
pub use self::file::{DataFile, DataSync, StateSource};
pub use self::file::{directory_of, resolve};
use crate::{
    clock::Clock,
    entropy::{Entropy, Position},
    store::{ObjectKey, Range, Storage},
};

/// The distance by which a restart that [advances](Restart::Advance) moves the revision.
const ADVANCE: u64 = 1_000_000;

/// The revision at which a restored server begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: it goes on, or moves on"
)]
pub enum Restart {
    /// The revision of the snapshot, as if the server had only been away: a watch from the snapshot's revision
    /// continues, an older one is answered with 410.
    ///
    /// A client that has seen writes behind the snapshot, which are lost, does not notice that until the server comes by
    /// their revisions again.
    #[default]
    Keep,
    /// A million further on, as an etcd that was restored with its revision bumped: every watch of before is answered
    /// with 410, and its client lists again. Objects keep their versions.
    Advance,
}

/// The whole store at one revision. Clones share their contents.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The releases of Kubernetes by which the objects may have been written, that of the server first.
    pub kubernetes: Vec<String>,
    pub revision: Revision,
    pub time: Timestamp,
    pub seed: u64,
    pub drawn: Position,
    /// Definitions of custom resources first.
    pub objects: Vec<SavedObject>,
}

/// A stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedObject {
    pub key: ObjectKey,
    pub revision: Revision,
    /// The version of its kind in which a custom object is stored, with its group.
    pub stored_version: Option<String>,
    pub json: Bytes,
}

// === impl Snapshot ===

impl Snapshot {
    /// Reads the snapshot in `file`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no complete snapshot of a supported format; the error has the position. See
    /// [`SnapshotError`].
    pub fn read(file: &Path) -> Result<Self, SnapshotError> {
        let read = file::read(file)?.ok_or_else(|| SnapshotError::absent(file))?;
        Ok(read.snapshot)
    }

    /// Writes the snapshot to `file` atomically: the file has either its old content or the whole snapshot, even after
    /// a crash of the machine.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::NotWritten`]: the file is unchanged, and a retry may succeed.
    pub fn write(&self, file: &Path) -> Result<(), SnapshotError> {
        file::write(file, &self.to_bytes())
    }

    /// Takes a snapshot of the whole store, whose objects the releases that `kubernetes` returns may have written, and calls
    /// `mark` while the store is locked.
    pub fn take<T>(
        kubernetes: impl FnOnce() -> Vec<String>,
        storage: &Storage,
        clock: &Clock,
        entropy: &Entropy,
        mark: impl FnOnce() -> T,
    ) -> (Self, T) {
        let (revision, drawn, tables, kubernetes, mark) = storage.view(|view| {
            let tables: Vec<_> = view
                .resources()
                .map(|resource| view.snapshot(resource))
                .collect();
            let drawn = entropy.position();
            (view.revision(), drawn, tables, kubernetes(), mark())
        });
        let objects = tables
            .iter()
            .flat_map(|table| table.objects(&Range::All, None));
        let mut objects: Vec<SavedObject> = objects
            .map(|object| SavedObject {
                key: object.key().clone(),
                revision: Revision::new(object.revision()),
                stored_version: Some(object.stored_version().to_owned())
                    .filter(|version| !version.is_empty()),
                json: object.json(),
            })
            .collect();
        objects.sort_by_key(|kept| !kept.is_definition());
        let snapshot = Self {
            kubernetes,
            revision,
            time: clock.now(),
            seed: entropy.seed(),
            drawn,
            objects,
        };
        (snapshot, mark)
    }

    /// Returns the same objects in a store at a later revision, as of an etcd that was restored with its revision bumped; an
    /// earlier one changes nothing, and one beyond `i64::MAX`, which no etcd reaches, counts as that. Objects keep their
    /// versions.
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// use fakeserver::FakeServer;
    ///
    /// let empty = FakeServer::builder().build().snapshot();
    /// let snapshot = empty.at_revision(9_999);
    /// assert_eq!(snapshot.clone().at_revision(8).revision(), 9_999);
    /// let server = FakeServer::builder().with_snapshot(snapshot).build();
    /// assert_eq!(server.revision(), 9_999);
    /// ```
    #[must_use]
    pub fn at_revision(mut self, revision: u64) -> Self {
        let later = revision.min(i64::MAX.unsigned_abs());
        self.revision = self.revision.max(Revision::new(later));
        self
    }

    /// Returns the release of Kubernetes of the server that it was taken of: `1.36.2`. This program may not have it.
    pub fn kubernetes_release(&self) -> &str {
        self.kubernetes.first().map_or("", String::as_str)
    }

    /// The revision at which the store stood.
    pub fn revision(&self) -> u64 {
        self.revision.get()
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The contents of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        format::print(self, None).0
    }
}

impl fmt::Debug for Snapshot {
    /// Without the objects.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("revision", &self.revision)
            .field("objects", &self.objects.len())
            .finish_non_exhaustive()
    }
}

// === impl SavedObject ===

impl SavedObject {
    /// Returns whether it is a definition of custom resources.
    pub fn is_definition(&self) -> bool {
        self.key.resource() == custom_resource_definition::KIND.storage()
    }
}

// === impl Restart ===

impl Restart {
    /// Returns the revision at which a store continues that stood at `revision`.
    pub fn revision(self, revision: Revision) -> Revision {
        match self {
            Self::Keep => revision,
            Self::Advance => Revision::new(revision.get().saturating_add(ADVANCE)),
        }
    }
}
