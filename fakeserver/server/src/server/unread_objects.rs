//! The objects of a store that a version of Kubernetes does not read, or not whole.

use std::{collections::BTreeMap, fmt};

use fakeserver_kinds::registry::Registry;
use fakeserver_value::{
    resource::GroupResource,
    schema::{self, StrictError},
};
use fakeserver_versions::KubernetesVersion;
use serde::Serialize;
use tracing::warn;

use crate::{
    store::{Range, Snapshot, StoredObject},
    write::Backend,
};

/// The number of objects with unknown fields that are named; the others are counted.
const NAMED_MAX: usize = 100;

/// The stored objects that the version of a server does not serve, and those with fields that it does not know. They stay in
/// the store: a version that knows them serves them again, unless they were written meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UnreadObjects {
    /// The resources that are not served, with the number of their objects.
    pub unserved: BTreeMap<String, usize>,
    /// The unknown fields of the first 100 objects that have some, by `resource.group namespace/name`.
    pub unknown_fields: BTreeMap<String, Vec<String>>,
    /// The number of objects with unknown fields.
    pub objects_with_unknown_fields: usize,
}

// === impl UnreadObjects ===

impl UnreadObjects {
    /// Finds them in the store. Reads each object of a built-in kind once.
    pub(super) fn find(backend: &Backend) -> Self {
        let registry = backend.registry();
        let tables: Vec<(GroupResource, Snapshot)> = backend.storage.view(|view| {
            let resources = view.resources();
            resources
                .map(|resource| (resource.clone(), view.snapshot(resource)))
                .collect()
        });
        let mut found = Self::default();
        for (resource, table) in tables {
            found.add(&registry, &resource, &table);
        }
        found
    }

    /// Returns whether everything is read.
    pub fn is_empty(&self) -> bool {
        self.unserved.is_empty() && self.objects_with_unknown_fields == 0
    }

    /// Logs them for a server of the version `served`, whose store `release` has written.
    pub(super) fn warn(&self, release: &str, served: KubernetesVersion) {
        for line in self.to_string().lines() {
            warn!(written_by = release, %served, "{line}");
        }
    }

    fn add(&mut self, registry: &Registry, resource: &GroupResource, table: &Snapshot) {
        let Some(served) = registry.stored_type(resource) else {
            if table.count() > 0 {
                self.unserved.insert(resource.to_string(), table.count());
            }
            return;
        };
        let id = served.type_of_objects();
        let Some(id) = id.filter(|_| !served.rules.is_custom()) else {
            return;
        };
        for object in table.objects(&Range::All, None) {
            let decoded = schema::decode(id, &object.json());
            let unknown: Vec<String> = decoded
                .into_iter()
                .flat_map(|decoded| decoded.strict)
                .filter_map(|error| match error {
                    StrictError::UnknownField(path) => Some(path),
                    StrictError::DuplicateField(_) => None,
                })
                .collect();
            if unknown.is_empty() {
                continue;
            }
            self.objects_with_unknown_fields += 1;
            if self.unknown_fields.len() < NAMED_MAX {
                self.unknown_fields.insert(name_of(object), unknown);
            }
        }
    }
}

/// A line for each resource and each object, and one for those that are not named.
impl fmt::Display for UnreadObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (resource, count) in &self.unserved {
            writeln!(f, "{resource} is not served; objects: {count}")?;
        }
        for (object, fields) in &self.unknown_fields {
            writeln!(f, "{object} has unknown fields: {}", fields.join(", "))?;
        }
        match self.objects_with_unknown_fields - self.unknown_fields.len() {
            0 => Ok(()),
            more => writeln!(f, "{more} more objects have unknown fields"),
        }
    }
}

fn name_of(object: &StoredObject) -> String {
    let resource = object.resource();
    match object.namespace() {
        Some(namespace) => format!("{resource} {namespace}/{}", object.name()),
        None => format!("{resource} {}", object.name()),
    }
}
