//! The pure core of a consistency check: what differs between a snapshot and a list of one version.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use crate::{
    indexer::Snapshot,
    list_watch::{ArrivedObject, ListWatchError},
    object::{Object, ObjectKey, ResourceVersion},
};

/// The outcome of a comparison of the cache with the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsistencyReport {
    /// The resource that the informer mirrors.
    pub resource: Arc<str>,
    /// The version at which both were compared.
    pub resource_version: ResourceVersion,
    /// The number of objects on the server that the informer wants.
    pub objects: usize,
    /// The differences, in order of the keys; none if the cache is true.
    pub differences: Vec<Difference>,
}

/// One object that the cache does not show as the server does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The cache does not have it.
    Missing {
        /// The object.
        key: ObjectKey,
        /// Its version on the server.
        listed: ResourceVersion,
    },
    /// The server does not have it.
    Extra {
        /// The object.
        key: ObjectKey,
        /// Its version in the cache.
        cached: ResourceVersion,
    },
    /// Both have it, in different versions.
    OtherVersion {
        /// The object.
        key: ObjectKey,
        /// Its version in the cache.
        cached: ResourceVersion,
        /// Its version on the server.
        listed: ResourceVersion,
    },
    /// Two objects of one name.
    OtherObject {
        /// The key of both.
        key: ObjectKey,
        /// The uid in the cache.
        cached: Arc<str>,
        /// The uid on the server.
        listed: Arc<str>,
    },
}

/// The cache could not be compared with the server. It says nothing about the cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsistencyError {
    /// Not within the limit; try again.
    #[error("{resource} not compared within {limit:?}")]
    Deadline {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The time limit of the wait.
        limit: Duration,
    },
    /// The informer has stopped, so that its cache stays behind. Trying again is useless.
    #[error("the informer of {resource} has stopped")]
    Stopped {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
    },
    /// The list failed; its error says whether to try again.
    #[error("cannot list {resource} to compare")]
    List {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The error.
        #[source]
        source: ListWatchError,
    },
    /// The server does not list at exact versions. Trying again is useless.
    #[error("the server listed {resource} at {listed:?}, asked for {requested:?}")]
    OtherVersion {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The version that was asked for.
        requested: ResourceVersion,
        /// The version of the list.
        listed: ResourceVersion,
    },
}

/// The compared part of the whole state at one version.
#[derive(Debug, Default)]
pub(super) struct ListedState(BTreeMap<ObjectKey, ListedObject>);

#[derive(Debug)]
struct ListedObject {
    /// Empty if it is not known.
    uid: Arc<str>,
    version: ResourceVersion,
}

// === impl ListedState ===

impl ListedState {
    pub(super) fn add<K>(&mut self, item: &ArrivedObject<K>) {
        let (key, uid, version) = match item {
            Ok(object) => (object.key(), object.uid(), object.resource_version()),
            Err(error) => (&error.key, "", &error.resource_version),
        };
        let listed = ListedObject {
            uid: uid.into(),
            version: version.clone(),
        };
        self.0.insert(key.clone(), listed);
    }

    /// Adds the items of another page.
    pub(super) fn extend(&mut self, page: Self) {
        self.0.extend(page.0);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the differences between the state and `snapshot`, which is of the same version. An object that is marked
    /// as undecodable exists.
    pub(super) fn compare<K>(&self, snapshot: &Snapshot<K>) -> Vec<Difference> {
        let listed = self.0.iter();
        let mut differences: Vec<_> = listed
            .filter_map(|(key, listed)| listed.compare(key, snapshot))
            .collect();
        let objects = snapshot
            .iter()
            .map(|own| (own.key(), own.resource_version()));
        let marks = snapshot.undecodable();
        let marks = marks.map(|mark| (&mark.key, &mark.resource_version));
        let extra = objects
            .chain(marks)
            .filter(|(key, _)| !self.0.contains_key(key));
        differences.extend(extra.map(|(key, cached)| Difference::Extra {
            key: key.clone(),
            cached: cached.clone(),
        }));
        sort(&mut differences);
        differences
    }
}

/// Sorts by key. Not generic, so that the sort is compiled once, and not for each type of objects.
fn sort(differences: &mut [Difference]) {
    differences.sort_by(|a, b| a.key().cmp(b.key()));
}

// === impl ListedObject ===

impl ListedObject {
    fn compare<K>(&self, key: &ObjectKey, snapshot: &Snapshot<K>) -> Option<Difference> {
        let object = snapshot.get(key);
        let mark = snapshot.get_undecodable(key);
        let cached = object
            .map(Object::resource_version)
            .or_else(|| mark.map(|mark| &mark.resource_version));
        let (key, listed) = (key.clone(), self.version.clone());
        let Some(cached) = cached.cloned() else {
            return Some(Difference::Missing { key, listed });
        };
        let uid = object.map_or("", |object| object.uid());
        if !uid.is_empty() && !self.uid.is_empty() && *uid != *self.uid {
            return Some(Difference::OtherObject {
                key,
                cached: uid.into(),
                listed: Arc::clone(&self.uid),
            });
        }
        (cached != listed).then_some(Difference::OtherVersion {
            key,
            cached,
            listed,
        })
    }
}

// === impl ConsistencyReport ===

impl ConsistencyReport {
    /// Returns true if the cache equals the server's state.
    pub fn is_consistent(&self) -> bool {
        self.differences.is_empty()
    }
}

impl fmt::Display for ConsistencyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource,
            resource_version,
            objects,
            differences,
        } = self;
        let count = differences.len();
        write!(
            f,
            "{resource} at {resource_version}, {objects} listed, {count} different"
        )?;
        differences
            .iter()
            .try_for_each(|difference| write!(f, "; {difference}"))
    }
}

// === impl Difference ===

impl Difference {
    /// The object that differs.
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Missing { key, .. }
            | Self::Extra { key, .. }
            | Self::OtherVersion { key, .. }
            | Self::OtherObject { key, .. } => key,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { key, listed } => write!(f, "{key} missing, listed at {listed}"),
            Self::Extra { key, cached } => write!(f, "{key} not listed, cached at {cached}"),
            Self::OtherVersion {
                key,
                cached,
                listed,
            } => write!(f, "{key} cached at {cached}, listed at {listed}"),
            Self::OtherObject {
                key,
                cached,
                listed,
            } => write!(f, "{key} cached with uid {cached}, listed with {listed}"),
        }
    }
}
