//! The objects of a database: its keys and values, read for a server.

use fakeserver_value::{resource::GroupResource, revision::Revision};
use fakeserver_versions::KubernetesVersion;

use crate::{
    bolt::BoltError,
    database::{Database, Record},
    layout::{Key, Layout, ObjectPath},
    values::{StoredValue, ValueError, decode},
};

/// The number of other prefixes that an error names.
const PREFIXES_NAMED: usize = 10;

/// An object of a database.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DatabaseObject {
    /// Its place.
    pub path: ObjectPath,
    /// Its value.
    pub value: StoredValue,
    /// The revision of its last change, its resourceVersion.
    pub revision: Revision,
}

/// The meaning of a record.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: every record is one of these"
)]
pub enum RecordContent {
    /// An object.
    Object(Box<DatabaseObject>),
    /// An object of a kind, or of a version of one, that is not known here: its resource, or the folder of its key.
    Unknown(String),
    /// No object: a key of API servers, or of another program.
    None,
}

/// A value that cannot be read, with its key.
#[derive(Debug, thiserror::Error)]
#[error("the value of {key}")]
#[non_exhaustive]
pub struct RecordError {
    /// The key.
    pub key: String,
    /// The problem.
    #[source]
    pub source: ValueError,
}

/// The reason why a file does not give the state of a cluster. Reading it again gives the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The file is damaged, cut off, or not etcd's. Take another snapshot.
    #[error(transparent)]
    Database(#[from] BoltError),
    /// An object in it cannot be read.
    #[error(transparent)]
    Object(#[from] RecordError),
    /// The keys are below another prefix, which has to be named.
    #[error(
        "no key begins with {prefix}; those in the file begin with {others}: name one of these by `--etcd-prefix`"
    )]
    Prefix {
        /// The prefix that was asked for.
        prefix: String,
        /// The first parts of the keys.
        others: String,
    },
}

// === impl Record ===

impl Record<'_> {
    /// Reads the object that the record has, for a server of a version of Kubernetes.
    ///
    /// # Errors
    ///
    /// The value is damaged or encrypted.
    pub fn content(
        &self,
        layout: &Layout,
        kubernetes: KubernetesVersion,
    ) -> Result<RecordContent, RecordError> {
        let path = match layout.parse_key(self.key) {
            Key::Object(path) => path,
            Key::Unknown => return Ok(RecordContent::Unknown(self.folder(layout))),
            Key::Server(_) | Key::Foreign => return Ok(RecordContent::None),
        };
        let revision = Revision::new(self.mod_revision);
        match decode(kubernetes, &path.resource, self.value, revision) {
            Ok(value) => Ok(RecordContent::Object(Box::new(DatabaseObject {
                path,
                value,
                revision,
            }))),
            Err(ValueError::UnknownKind { api_version, .. }) => {
                let name = unknown_name(&path.resource, &api_version);
                Ok(RecordContent::Unknown(name))
            }
            Err(source) => Err(RecordError {
                key: String::from_utf8_lossy(self.key).into_owned(),
                source,
            }),
        }
    }

    /// Returns the first part of a key behind the prefix.
    fn folder(&self, layout: &Layout) -> String {
        let path = self.key.get(layout.prefix().len()..).unwrap_or_default();
        let folder = path.split(|byte| *byte == b'/').next();
        String::from_utf8_lossy(folder.unwrap_or_default()).into_owned()
    }
}

/// Names the resource of an object whose kind or version is not known.
fn unknown_name(resource: &GroupResource, api_version: &str) -> String {
    format!("{resource} in {api_version}")
}

// === impl Database ===

impl Database<'_> {
    /// Checks that some keys are below the prefix of `layout`. A database without any key is empty, which is no error.
    ///
    /// # Errors
    ///
    /// [`StateError::Prefix`], with the prefixes that there are.
    pub fn check_prefix(&self, layout: &Layout) -> Result<(), StateError> {
        let is_foreign = |record: &&Record<'_>| layout.parse_key(record.key) == Key::Foreign;
        let mut others: Vec<String> = self
            .records
            .iter()
            .filter(is_foreign)
            .map(first_part)
            .collect();
        let has_own = self
            .records
            .iter()
            .any(|record| record.key.starts_with(layout.prefix().as_bytes()));
        if has_own || others.is_empty() {
            return Ok(());
        }
        others.dedup();
        others.truncate(PREFIXES_NAMED);
        Err(StateError::Prefix {
            prefix: layout.prefix().to_owned(),
            others: others.join(", "),
        })
    }
}

/// Returns a key up to its second slash.
fn first_part(record: &Record<'_>) -> String {
    let key = String::from_utf8_lossy(record.key);
    let end = key.match_indices('/').nth(1).map(|(at, _)| at);
    key[..end.unwrap_or(key.len())].to_owned()
}
