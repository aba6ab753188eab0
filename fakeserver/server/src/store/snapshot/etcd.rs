//! Snapshots of an etcd, which a cluster's backup is.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use fakeserver_etcd::{
    Database, DatabaseObject, Layout, Record, RecordContent, RecordError, StateError,
};
use fakeserver_value::{resource::GroupResource, revision::Revision};
use fakeserver_versions::KubernetesVersion;
use jiff::Timestamp;
use tracing::warn;

use super::{SavedObject, Snapshot, SnapshotError};
use crate::{entropy::Position, store::ObjectKey, task};

/// The number of records that are read before progress is reported.
const STEP: usize = 1_000;
/// The number of parts that each thread reads, so that none waits long for another.
const PARTS_PER_WORKER: usize = 8;

/// The objects of some records, and what there is to say of them.
#[derive(Default)]
struct ReadObjects {
    objects: Vec<SavedObject>,
    /// The time of creation of the latest object, as it is written.
    latest: String,
    /// The versions of Kubernetes by whose types objects were read.
    versions: BTreeSet<&'static str>,
    /// The kinds that are not known, with the numbers of their objects.
    unknown: BTreeMap<String, usize>,
}

// === impl Snapshot ===

impl Snapshot {
    /// Reads the state of a cluster from an etcd's file: a snapshot that `etcdctl snapshot save` wrote, or the file
    /// `member/snap/db` of a member that has stopped. The file is only read.
    ///
    /// The keys are below `prefix`, which is `/registry` unless the cluster has another one. Objects are read by the types of
    /// `kubernetes`, the version of the server that the snapshot is for. Those of a kind that it does not have stay in the store,
    /// as far as another version has the kind; a warning names them, and those that no version has. Objects keep their versions,
    /// and the store stands at the revision of etcd.
    ///
    /// `progress` is called with the number of keys that were read, and of all; also by several threads at once.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::NotRead`], or [`SnapshotError::Etcd`]: the file is damaged, an object is encrypted, or the keys are below
    /// another prefix. The error has the place.
    ///
    /// # Memory
    ///
    /// While it reads, that of the file besides that of the objects.
    pub fn from_etcd_file(
        file: &Path,
        prefix: &str,
        kubernetes: KubernetesVersion,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, SnapshotError> {
        let bytes = fs::read(file).map_err(|source| SnapshotError::NotRead {
            file: file.to_owned(),
            source,
        })?;
        let snapshot = Self::from_etcd(&bytes, prefix, kubernetes, progress);
        snapshot.map_err(|source| SnapshotError::Etcd {
            file: file.to_owned(),
            source: Box::new(source),
        })
    }

    fn from_etcd(
        file: &[u8],
        prefix: &str,
        kubernetes: KubernetesVersion,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, StateError> {
        let layout = Layout::new(prefix);
        let database = Database::read(file)?;
        database.check_prefix(&layout)?;
        let count = database.records.len();
        let done = AtomicUsize::new(0);
        let part_length = count
            .div_ceil(task::worker_count() * PARTS_PER_WORKER)
            .max(STEP);
        let parts: Vec<&[Record<'_>]> = database.records.chunks(part_length).collect();
        let read_parts = task::side_by_side(&parts, |part| {
            let mut read = ReadObjects::default();
            for step in part.chunks(STEP) {
                read.add_all(step, &layout, kubernetes)?;
                progress(
                    done.fetch_add(step.len(), Ordering::Relaxed) + step.len(),
                    count,
                );
            }
            Ok::<_, RecordError>(read)
        });
        let mut all = ReadObjects::default();
        for part in read_parts {
            all.join(part?);
        }
        all.warn();
        Ok(all.into_snapshot(kubernetes, Revision::new(database.revision)))
    }
}

// === impl ReadObjects ===

impl ReadObjects {
    fn add_all(
        &mut self,
        records: &[Record<'_>],
        layout: &Layout,
        kubernetes: KubernetesVersion,
    ) -> Result<(), RecordError> {
        for record in records {
            match record.content(layout, kubernetes)? {
                RecordContent::Object(object) => self.add(*object),
                RecordContent::Unknown(kind) => *self.unknown.entry(kind).or_default() += 1,
                RecordContent::None => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, read: DatabaseObject) {
        let DatabaseObject {
            path,
            value,
            revision,
            ..
        } = read;
        let created = value.object["metadata"]["creationTimestamp"].as_str();
        if let Some(created) = created.filter(|created| **created > *self.latest) {
            created.clone_into(&mut self.latest);
        }
        self.versions.insert(value.kubernetes.release());
        let json = serde_json::to_vec(&value.object).expect("values serialize into memory");
        self.objects.push(SavedObject {
            key: ObjectKey::new(path.resource, path.namespace.as_deref(), &path.name),
            revision,
            stored_version: value.is_custom.then_some(value.meta.api_version),
            json: Bytes::from(json),
        });
    }

    fn join(&mut self, other: Self) {
        self.objects.extend(other.objects);
        self.versions.extend(other.versions);
        for (kind, count) in other.unknown {
            *self.unknown.entry(kind).or_default() += count;
        }
        self.latest = std::mem::take(&mut self.latest).max(other.latest);
    }

    /// Names what is in the file and cannot be served.
    fn warn(&self) {
        for (kind, count) in &self.unknown {
            warn!("{kind} is not known; objects: {count}");
        }
        let definitions = self.objects.iter().filter(|object| object.is_definition());
        let defined: BTreeSet<GroupResource> = definitions
            .filter_map(|definition| {
                let (plural, group) = definition.key.name().split_once('.')?;
                Some(GroupResource::new(group, plural))
            })
            .collect();
        let custom = self
            .objects
            .iter()
            .filter(|object| object.stored_version.is_some());
        let mut undefined: BTreeMap<&GroupResource, usize> = BTreeMap::new();
        for object in custom.filter(|object| !defined.contains(object.key.resource())) {
            *undefined.entry(object.key.resource()).or_default() += 1;
        }
        for (resource, count) in undefined {
            warn!("{resource} has no definition; objects: {count}");
        }
    }

    fn into_snapshot(mut self, kubernetes: KubernetesVersion, revision: Revision) -> Snapshot {
        let own = kubernetes.release();
        let others = self.versions.iter().filter(|release| **release != own);
        let releases = std::iter::once(&own).chain(others);
        let kubernetes = releases.map(|release| (*release).to_owned()).collect();
        self.objects.sort_by_key(|object| !object.is_definition());
        Snapshot {
            kubernetes,
            revision,
            // The time of day of the backup is not in it.
            time: self.latest.parse().unwrap_or(Timestamp::UNIX_EPOCH),
            // A seed of its own, so that another state's uids are not drawn again.
            seed: revision.get(),
            drawn: Position::default(),
            objects: self.objects,
        }
    }
}
