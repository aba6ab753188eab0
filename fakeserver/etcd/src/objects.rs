//! The objects of a database: its keys and values, read for a server.

use fakeserver_value::{resource::GroupResource, revision::Revision};
use fakeserver_versions::KubernetesVersion;

use crate::{
    database::{Database, Record},
    layout::{Key, Layout, ObjectPath},
    values::{StoredValue, ValueError, decode},
};

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
    /// Returns the first parts of the keys that are not below the prefix of `layout`, each once: where the state of another
    /// distribution of Kubernetes may be.
    pub fn foreign_prefixes(&self, layout: &Layout) -> Vec<String> {
        let foreign = self.records.iter().filter_map(|record| {
            let is_foreign = layout.parse_key(record.key) == Key::Foreign;
            let key = std::str::from_utf8(record.key)
                .ok()
                .filter(|_| is_foreign)?;
            let end = key[1.min(key.len())..].find('/')? + 1;
            Some(key[..end].to_owned())
        });
        let mut prefixes: Vec<String> = foreign.collect();
        prefixes.dedup();
        prefixes
    }
}
